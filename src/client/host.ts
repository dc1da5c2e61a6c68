/** Other hosts that ssh reaches: how they are named, how memrl-tui is found and started there, and what may be missing. */
import packageJson from '../../package.json' with { type: 'json' };
import { UserError } from '../base/user-error.js';
import { encodeOrder, type HostOrder, KNOWN } from '../protocol/host-order.js';
import { ORDER_WORD } from '../protocol/order-word.js';
import { shellQuote } from '../text/shell-words.js';

/** `name`: as ssh takes it. `directory`: on the host; null: the home directory there. */
export type Host = { readonly name: string; readonly directory: string | null };

/**
 * Reads `HOST` or `HOST:DIRECTORY`, as scp and rsync have it.
 *
 * @throws {UserError} When it names no host.
 */
export function parseHost(text: string): Host {
  const [, name, directory] = /^(\[[^\]\s]+\]|[^:\s]+)(?::(.*))?$/.exec(text) ?? [];
  // What begins with a hyphen would be an option for ssh.
  if (name !== undefined && !name.startsWith('-'))
    return { name, directory: directory === '' ? null : (directory ?? null) };
  throw new UserError(
    `--host ${text} names no host.`,
    'Write it as for ssh, with a directory behind it if need be: `--host login.cluster`, `--host me@gpubox:projects/lr`.',
  );
}

/** The host as a person types it. */
export function hostText({ name, directory }: Host): string {
  return directory === null ? name : `${name}:${directory}`;
}

/** What the finder says by its exit code; memrl-tui itself uses none of these. */
const findings = { noNode: 117, oldNode: 118, noProgram: 119, oldProgram: 120 } as const;

const [, leastMajor, leastMinor] = /(\d+)\.(\d+)/.exec(packageJson.engines.node)!;

/** Where the told command puts the program on a host, below the home directory. */
const COPY = '.memrl-tui';

/**
 * Finds Node and memrl-tui, and carries out the order. Like the other two scripts it has no single quote, no exclamation mark, no
 * backslash and no newline, so that every login shell (fish and csh as well) passes it on as it is.
 */
const finder = [
  'exec 1>&3 3>&-; printf %s "$2"; old=; node=; program=',
  `fits() { v=$("$1" --version 2>/dev/null) || return 1; v=\${v#v}; a=\${v%%.*}; b=\${v#*.}; b=\${b%%.*}; [ "$a" -gt ${leastMajor} ] || [ "$a" -eq ${leastMajor} -a "$b" -ge ${leastMinor} ]; }`,
  'for n in "$(command -v node)" "$HOME"/.local/bin/node "$HOME"/.nvm/versions/node/*/bin/node "$HOME"/.volta/bin/node "$HOME"/.local/share/fnm/aliases/default/bin/node /usr/local/bin/node /opt/homebrew/bin/node; do [ -x "$n" ] || continue; if fits "$n"; then node=$n; break; fi; old="$v ($n)"; done',
  `if [ -z "$node" ]; then if [ -n "$old" ]; then echo "The newest Node there is $old." >&2; exit ${findings.oldNode}; fi; exit ${findings.noNode}; fi`,
  `for p in "$HOME"/${COPY}/dist/memrl-tui.js "$(command -v memrl-tui)" "\${node%/*}"/memrl-tui "$HOME"/.local/bin/memrl-tui; do if [ -f "$p" ]; then program=$p; break; fi; done`,
  `if [ -z "$program" ]; then exit ${findings.noProgram}; fi`,
  'read -r first < "$program"; case "$first" in *node*) set -- "$node" "$program" "$1" ;; *) set -- env "$program" "$1" ;; esac',
  `"$1" "$2" ${ORDER_WORD} "$3"; code=$?`,
  `if [ "$code" -eq 2 ]; then "$1" "$2" ${ORDER_WORD} ${KNOWN} </dev/null >/dev/null 2>&1 || exit ${findings.oldProgram}; fi; exit "$code"`,
].join('; ');

/** The environment is that of a login, in which modules are loaded; what its profile prints is no part of the output. */
const login = 'exec sh -c "$1" sh "$2" "$3"';
const outer =
  'printf %s "$3"; exec 3>&1 1>&2; s=${SHELL:-/bin/sh}; case ${s##*/} in bash|zsh|sh|dash|ash|ksh) ;; *) s=/bin/sh ;; esac; exec "$s" -lc "$0" sh "$1" "$2" "$3"';

/**
 * Arguments of ssh, so that the order is carried out on the host.
 *
 * @param options Further options of ssh.
 * @param mark A word that is printed there twice: when ssh has logged in, and when the login shell has read its profile.
 */
export function sshArguments(order: HostOrder, host: Host, options: readonly string[], mark = ''): string[] {
  const command = `exec sh -c '${outer}' '${login}' '${finder}' ${encodeOrder(order)} ${mark}`;
  return [...options, '--', host.name.replace(/^\[(.*)\]$/, '$1'), command];
}

/** Puts Node where the finder looks, on Linux and macOS. */
const NODE_COMMAND =
  'mkdir -p .local && curl -fsSL https://nodejs.org/dist/v22.12.0/node-v22.12.0-$(uname -s | tr A-Z a-z)-$(uname -m | sed s/x86_64/x64/\\;s/aarch64/arm64/).tar.gz | tar -xzf - -C .local --strip-components 1';

/** ssh itself failed; it has said why. */
const SSH_FAILED = 255;

/**
 * Why nothing was done on the host, by the exit code of ssh; null: the code is that of memrl-tui there.
 *
 * @param said What ssh and the host said of it, where that has not been shown.
 * @param program Directory of this program, which can be copied to the host.
 */
export function hostProblem(code: number | null, { name }: Host, program: string, said = ''): UserError | null {
  const copy = `tar -C ${shellQuote([program])} -czf - package.json dist | ssh ${shellQuote([name])} 'mkdir -p ${COPY} && tar -C ${COPY} -xzf -'`;
  const node = `Node ${leastMajor}.${leastMinor} or newer`;
  const install = `Install ${node} there; it needs no rights: ssh ${shellQuote([name])} '${NODE_COMMAND}' (or \`module load\` it in ~/.profile).`;
  const words = said.trim() === '' ? '' : `\n${said.trim()}`;
  switch (code) {
    case SSH_FAILED:
    case null:
      return new UserError(
        `ssh could not reach ${name}.${words}`,
        `Try \`ssh ${shellQuote([name])} true\`: memrl-tui uses the same configuration, keys and jump hosts.`,
      );
    case findings.noNode:
      return new UserError(`There is no Node on ${name}, and memrl-tui needs ${node} there.`, install);
    case findings.oldNode:
      return new UserError(`Node is too old on ${name}: memrl-tui needs ${node} there.${words}`, install);
    case findings.noProgram:
      return new UserError(`memrl-tui is not on ${name} yet.`, `Copy this one there (it needs Node alone): ${copy}`);
    case findings.oldProgram:
      return new UserError(
        `memrl-tui on ${name} is too old for --host.`,
        `Copy this one there, which is found first: ${copy}`,
      );
    default:
      return null;
  }
}
