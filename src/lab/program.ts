/** Help and errors of `memrl`, and the choice of its command. A command's code is loaded when it is named. */
import packageJson from '../../package.json' with { type: 'json' };
import { systemRefusal, UserError } from '../base/user-error.js';
import { type CommandName, isHelp, purposes } from './purposes.js';
import type { OwnProcess } from './run/process-context.js';

/** Runs the command given, in a process of its own or in a caller's. @returns the exit code. */
export async function main(words: readonly string[], own: OwnProcess): Promise<number> {
  try {
    return await handleCommand(words, own);
  } catch (error) {
    const { text, code } = reportError(error);
    own.stderr.write(`${text}\n`);
    return code;
  }
}

async function handleCommand([name, ...argv]: readonly string[], own: OwnProcess): Promise<number> {
  if (name === undefined || isHelp(name)) {
    own.stdout.write(overview());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    own.stdout.write(`${packageJson.version}\n`);
    return 0;
  }
  if (!isCommand(name)) {
    throw new UserError(`There is no command \`${name}\`.`, `Use one of: ${Object.keys(purposes).join(', ')}.`);
  }
  const { runCommand } = await import('./commands.js');
  return runCommand(name, argv, own);
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(purposes, name);
}

function overview(): string {
  const lines = Object.entries(purposes).map(([name, purpose]) => `  memrl ${name.padEnd(9)} ${purpose}`);
  const usage =
    'Arguments are key=value. `memrl train --help` lists the keys of train with types, defaults and meanings.';
  return ['memrl: how many bits does reinforcement learning learn per episode?', '', ...lines, '', usage, ''].join(
    '\n',
  );
}

/** Text of an error, with its fix. `code`: 2 when the user can fix it, 1 when it is our bug. */
function reportError(error: unknown): { readonly text: string; readonly code: 1 | 2 } {
  if (error instanceof UserError) return { text: `${error.message}\n\n→ ${error.fix}`, code: 2 };
  const refusal = systemRefusal(error);
  if (refusal !== null) return { text: refusal, code: 2 };
  const trace = error instanceof Error ? error.stack : String(error);
  return { text: `This is a bug in memrl, not in your settings.\n${trace}`, code: 1 };
}
