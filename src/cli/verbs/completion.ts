import { didYouMean } from '../../text/nearest.js';
import { UserError } from '../../base/user-error.js';
import { print } from '../terminal.js';

const scripts: Readonly<Record<string, string>> = {
  bash: `# memrl-tui: completion for bash. Add to ~/.bashrc:  eval "$(memrl-tui completion bash)"
_memrl_tui() {
  local IFS=$'\\n'
  COMPREPLY=($(memrl-tui __complete bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
  # A field still wants its value.
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *: ]] && compopt -o nospace
}
complete -o default -F _memrl_tui memrl-tui`,
  zsh: `#compdef memrl-tui
# memrl-tui: completion for zsh. Add to ~/.zshrc, after compinit:  eval "$(memrl-tui completion zsh)"
_memrl_tui() {
  local -a found fields
  found=("\${(@f)$(memrl-tui __complete zsh "\${(j: :)words[1,CURRENT-1]} \${PREFIX}" 2>/dev/null)}")
  found=(\${found:#})
  (( \${#found} )) || { _files; return }
  # A field still wants its value.
  fields=(\${(M)found:#*:})
  compadd -S '' -a fields
  found=(\${found:#*:})
  compadd -a found
}
compdef _memrl_tui memrl-tui`,
  fish: `# memrl-tui: completion for fish. Save as ~/.config/fish/completions/memrl-tui.fish
complete -c memrl-tui -f -a '(memrl-tui __complete fish (commandline -cp) 2>/dev/null)'
complete -c memrl-tui -n __fish_is_first_arg -F`,
};

/** `memrl-tui completion SHELL`: prints the completion script of a shell, which calls this program for candidates. */
export async function completion([shell]: readonly string[]): Promise<number> {
  const script = scripts[shell!];
  if (script === undefined) {
    throw new UserError(`There is no completion for ${shell}.`, didYouMean(shell!, Object.keys(scripts)));
  }
  print([script]);
  return 0;
}
