" Syntax of .iter files for Vim and Neovim. Put it into ~/.vim/syntax or
" ~/.config/nvim/syntax.
if exists('b:current_syntax')
  finish
endif
let s:declarations = 'agent\|judge\|router\|join\|human\|tool\|compute\|schema\|mcp_server\|workflow\|prompt'
let s:properties = join([
  \ 'args', 'autoload_project', 'await', 'backend', 'budget', 'command', 'conflict', 'default_backend', 'delegate', 'disable',
  \ 'entry', 'env', 'expr', 'inherit', 'input', 'instructions', 'interaction', 'interaction_model', 'interaction_prompt',
  \ 'max_cost_usd', 'max_duration', 'max_iterations', 'max_parallel_branches', 'max_tokens', 'mcp', 'min_answers', 'mode',
  \ 'model', 'multi', 'network', 'output', 'publish', 'readonly', 'reasoning_effort', 'require', 'retries', 'servers',
  \ 'session', 'strategy', 'system', 'temperature', 'timeout', 'tool_max_steps', 'tools', 'transport', 'url', 'user', 'uses',
  \ 'vars', 'verify', 'with', 'worktree'], '\|')
let s:words = join([
  \ 'allow', 'artifacts_only', 'ask', 'auto', 'auto_answer', 'auto_or_pause', 'best_effort', 'condition', 'extra_high', 'fail',
  \ 'false', 'fan_out_all', 'fork', 'fresh', 'high', 'http', 'human', 'inherit', 'inherit_if_available', 'llm', 'llm_or_human',
  \ 'low', 'max', 'medium', 'none', 'null', 'pause_until_answers', 'round_robin', 'sse', 'stdio', 'tick', 'true', 'wait_all',
  \ 'xhigh'], '\|')
let s:types = 'string\[\]\|\%(string\|bool\|int\|float\|json\)\>'

syntax case match
syntax match iterNumber "\%(\w\|\.\)\@1<!-\?\d\+\%(\.\d\+\)\?\%([eE][+-]\?\d\+\)\?\%(ns\|us\|ms\|[smh]\)\?\w\@!"
syntax region iterString start=+"+ skip=+\\.+ end=+"+ end=+$+ oneline contains=iterReference,iterEnvironment,iterEscape
syntax match iterEscape +\\\%([ntr"\\]\|u\x\{4}\)+ contained
syntax region iterReference matchgroup=iterBraces start="{{" end="}}" oneline contained contains=iterRoot
syntax match iterRoot "\%(\.\)\@1<!\<\%(vars\|input\|outputs\|artifacts\|loop\|run\|event\|raw\)\>" contained
syntax match iterEnvironment "\${[A-Z_][A-Z0-9_]*\%(:-[^}]*\)\?}" contained
execute 'syntax match iterProperty "^\s\+\zs\%(' . s:properties . '\)\ze\s*:"'
execute 'syntax match iterWord "\%(:\s*\"\?\)\@<=\%(' . s:words . '\)\>"'
execute 'syntax match iterType "\%(:\s*\)\@<=\%(' . s:types . '\)"'
syntax match iterEnum "\[\s*\zsenum\ze\s*:"
syntax match iterEdge "^\s*\h\w*\s*->.*$" contains=iterArrow,iterClause,iterEnd,iterString,iterNumber,iterComment
syntax match iterArrow "->" contained
syntax match iterClause "\<\%(when\|not\|as\|with\)\>" contained
syntax match iterEnd "\%(->\s*\)\@<=\%(done\|fail\)\>" contained
execute 'syntax match iterDeclaration "^\s*\zs\%(' . s:declarations . '\)\ze\s\+\h\w*\s*:" nextgroup=iterName skipwhite'
syntax match iterDeclaration "^\s*\zsvars\ze\s*:"
syntax match iterName "\h\w*" contained
syntax match iterComment "##.*$" contains=@Spell
syntax match iterComment "^\s*#.*$" contains=@Spell
syntax region iterPrompt start="^prompt\s\+\h\w*\s*:.*$" end="^\ze\S" keepend contains=iterDeclaration,iterReference,iterEnvironment,@Spell
syntax region iterCommand start="^\z(\s\+\)command\s*:\s*\%(##.*\)\?$" end="^\ze\%(\z1\s\)\@!\s*\S" keepend contains=iterProperty,iterReference,iterEnvironment

highlight default link iterBraces Delimiter
highlight default link iterClause Conditional
highlight default link iterComment Comment
highlight default link iterDeclaration Keyword
highlight default link iterEnd Constant
highlight default link iterEnum Keyword
highlight default link iterArrow Operator
highlight default link iterEnvironment PreProc
highlight default link iterEscape SpecialChar
highlight default link iterName Function
highlight default link iterNumber Number
highlight default link iterPrompt String
highlight default link iterProperty Identifier
highlight default link iterReference Special
highlight default link iterRoot Statement
highlight default link iterString String
highlight default link iterType Type
highlight default link iterWord Constant

let b:current_syntax = 'iter'
