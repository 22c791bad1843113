// Writes sample.tokens: what the TextMate grammar makes of sample.iter, by the
// tokenizer that editors use. Run it in this directory after a change of either:
//
//   npm install --no-save vscode-textmate@9.3.2 vscode-oniguruma@2.0.1
//   node tokens.js && rm -r node_modules
const crypto = require('crypto')
const fs = require('fs')
const oniguruma = require('vscode-oniguruma')
const textmate = require('vscode-textmate')

const read = (name) => fs.readFileSync(name, 'utf8')
const sum = (text) => crypto.createHash('sha256').update(text).digest('hex')

async function main() {
  const grammarText = read('../iter.tmLanguage.json')
  const sample = read('sample.iter')
  await oniguruma.loadWASM(fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm')).buffer)
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => scope === 'source.iter' ? textmate.parseRawGrammar(grammarText, 'iter.json') : null,
  })
  const grammar = await registry.loadGrammar('source.iter')
  const out = ['grammar ' + sum(grammarText), 'sample ' + sum(sample)]
  let stack = textmate.INITIAL
  for (const line of sample.replace(/\n$/, '').split('\n')) {
    const result = grammar.tokenizeLine(line, stack)
    stack = result.ruleStack
    out.push('|' + line)
    for (const token of result.tokens) {
      const text = line.slice(token.startIndex, token.endIndex)
      if (text.trim() !== '') out.push('  ' + JSON.stringify(text) + ' ' + (token.scopes.slice(1).join(' ') || 'none'))
    }
  }
  fs.writeFileSync('sample.tokens', out.join('\n') + '\n')
}

main()
