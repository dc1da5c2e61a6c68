import type { Keys } from './key.js';
import { bool } from './value-type.js';

/**
 * The same arguments as `key=value`: `--step 3` is `step=3`, `--wandb-project=p` is `wandb_project=p`, and `--json`, of a key that is true
 * or false, is `json=True`. What is none of these stays as it is.
 */
export function withoutFlags(keys: Keys, argv: readonly string[]): string[] {
  const plain: string[] = [];
  for (let at = 0; at < argv.length;) {
    const { argument, taken } = plainly(keys, argv[at]!, argv[at + 1]);
    plain.push(argument);
    at += taken;
  }
  return plain;
}

/** @returns how it is written plainly, and of how many arguments that was made. */
function plainly(keys: Keys, first: string, next: string | undefined): { argument: string; taken: number } {
  const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(first) ?? [];
  const key = name.replaceAll('-', '_');
  if (!Object.hasOwn(keys, key)) return { argument: first, taken: 1 };
  if (value !== undefined) return { argument: `${key}=${value}`, taken: 1 };
  const isSwitch = keys[key]!.type === bool && bool.read(next ?? '') === undefined;
  if (isSwitch) return { argument: `${key}=True`, taken: 1 };
  return next === undefined ? { argument: first, taken: 1 } : { argument: `${key}=${next}`, taken: 2 };
}
