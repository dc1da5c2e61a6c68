import { UserError } from '../../base/user-error.js';
import type { SweepText } from './sweep-schema.js';

/** Groups of one file. */
export const mostGroups = 2000;
/** Parameters of one group. */
export const mostParameters = 2000;
/** Values that all groups have together, with what they inherit. */
const mostInherited = 5_000_000;

/**
 * Refuses a file in which much is repeated for each of many groups or cases, before it is: a small file could come to more
 * than the memory holds.
 *
 * @throws {UserError} With what there is too much of.
 */
export function refuseLargeSweep({ groups = {}, ...above }: SweepText, path: string): void {
  const count = Object.keys(groups).length;
  if (count > mostGroups) throw tooMuch(path, `${words(count)} groups`, `${words(mostGroups)} groups`, splitUp);
  const shared = valuesIn(above);
  const inherited = count * shared;
  if (inherited > mostInherited) {
    const what = `${words(count)} groups that inherit ${words(shared)} values each`;
    throw tooMuch(path, what, `${words(mostInherited)} values in all`, 'Say in a group what only it needs.');
  }
  [above, ...Object.values(groups)].forEach((block) => refuseManyCases(above, block, path));
}

type Block = Pick<SweepText, 'cases' | 'parameters'>;

function refuseManyCases(above: Block, block: Block, path: string): void {
  const cases = block.cases ?? above.cases ?? [];
  const parameters = new Set([above, block].flatMap(({ parameters: own = {} }) => Object.keys(own))).size;
  if (cases.length * parameters <= mostInherited) return;
  const what = `${words(cases.length)} cases of ${words(parameters)} parameters`;
  throw tooMuch(path, what, `${words(mostInherited)} values in all`, splitUp);
}

const splitUp = 'Make several sweeps of it.';

function tooMuch(path: string, what: string, limit: string, fix: string): UserError {
  return new UserError(`${path} has ${what}; the limit is ${limit}.`, fix);
}

function words(count: number): string {
  return count.toLocaleString('en-US');
}

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + valuesIn(inner), 1);
}
