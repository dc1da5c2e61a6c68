import { Name } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { isUnset } from '../file/block.js';
import { readAssignments } from './read-assignments.js';
import type { GridValue } from './value-range.js';

/** A variant with which every run is repeated: `filter: gradient_routing=False,baseline=filter`. */
export type Baseline = {
  /** Its group, with which the names of its runs begin. */
  readonly group: string;
  readonly parameters: ReadonlyMap<string, GridValue>;
};

const example = "Write for example `--baseline 'no-momentum: momentum=0,nesterov=unset'`.";

/**
 * Parses the baselines of a line.
 *
 * @param names Parameters of the line: no other can be left out.
 * @param taken Names of other groups.
 * @throws {UserError} With the first mistake.
 */
export function readBaselines(
  texts: readonly string[],
  names: readonly string[],
  taken: readonly string[],
): Baseline[] {
  const groups = new Set(taken);
  return texts.map((text) => {
    const [, group = '', assignments = ''] = /^([^:=]*):(.*)$/s.exec(text) ?? [];
    const name = Name.safeParse(group.trim());
    if (!name.success) throw new UserError(`\`--baseline ${text}\` has no name.`, example);
    if (groups.has(name.data)) {
      throw new UserError(`There are two groups \`${name.data}\`.`, `Give \`--baseline ${text}\` another name.`);
    }
    groups.add(name.data);
    const parameters = valuesOf(text, wordsOf(assignments));
    refuseStrangers(text, parameters, names);
    return { group: name.data, parameters };
  });
}

/** Splits assignments at commas and blanks before a name: a list of values has commas, too. */
function wordsOf(assignments: string): string[] {
  const words = assignments.trim().split(/(?:\s*,\s*|\s+)(?=[A-Za-z_][A-Za-z0-9_.-]*=)/);
  return words.filter((word) => word !== '').map((word) => word.replace(/=unset$/, '=unset()'));
}

function valuesOf(text: string, words: readonly string[]): Map<string, GridValue> {
  if (words.length === 0) throw new UserError(`\`--baseline ${text}\` changes nothing.`, example);
  const parameters = readAssignments(words);
  const drawn = [...parameters].find(([, { kind }]) => kind === 'drawn');
  if (drawn === undefined) return parameters;
  throw new UserError(
    `\`${drawn[0]}\` is drawn at random in \`--baseline ${text}\`, and a baseline says what the runs are compared with.`,
    'Give it a value, or a list of values.',
  );
}

/** Refuses to leave out an unknown parameter, as a misspelt name would have no effect. */
function refuseStrangers(text: string, parameters: Baseline['parameters'], names: readonly string[]): void {
  const isLeftOut = (value: GridValue) => value.kind === 'constant' && isUnset(value.value);
  const stranger = [...parameters].find(([name, value]) => isLeftOut(value) && !names.includes(name))?.[0];
  if (stranger === undefined) return;
  throw new UserError(
    `\`--baseline ${text}\` leaves out \`${stranger}\`, which is no parameter of the line. ${didYouMean(stranger, names)}`,
    `Correct the name, or give the runs a \`${stranger}\`.`,
  );
}
