import { writeValue } from './arguments.js';
import type { Keys } from './key.js';

/** The help text of one command: every key with its type, default and meaning. */
export function commandHelp(command: string, purpose: string, keys: Keys): string {
  const rows = Object.entries(keys).map(([name, { type, default: standard, meaning }]) => ({
    left: `${name}=${writeValue(standard)}`,
    type: type.name,
    meaning,
  }));
  const leftWidth = Math.max(...rows.map(({ left }) => left.length));
  const typeWidth = Math.min(24, Math.max(...rows.map(({ type }) => type.length)));
  const lines = rows.map(
    ({ left, type, meaning }) => `  ${left.padEnd(leftWidth)}  ${type.padEnd(typeWidth)}  ${meaning}`,
  );
  return [`memrl ${command} [key=value …]`, '', purpose, '', 'Keys with their defaults:', ...lines, ''].join('\n');
}
