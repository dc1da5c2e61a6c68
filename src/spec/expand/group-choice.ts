import { UserError } from '../../base/user-error.js';
import type { Block } from '../file/block.js';
import { didYouMean } from '../../text/nearest.js';

/** A group that will be planned. `prerequisite`: not asked for itself, but needed by another. */
export type ChosenGroup = { readonly block: Block; readonly prerequisite: boolean };

/**
 * The groups to plan, in file order: those asked for (all but the optional ones when none was) and what they need.
 *
 * @throws {UserError} When a group is asked for that the file does not have.
 */
export function chooseGroups(blocks: readonly Block[], asked: readonly string[]): ChosenGroup[] {
  const names = blocks.map(({ group }) => group);
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new UserError(
      `There is no group \`${unknown}\` in this sweep. ${didYouMean(unknown, names)}`,
      `Choose among: ${names.join(' ')}`,
    );
  }
  const wanted = asked.length > 0 ? asked : blocks.filter(({ optional }) => !optional).map(({ group }) => group);
  const needed = neededBy(blocks, wanted);
  return blocks
    .filter(({ group }) => wanted.includes(group) || needed.has(group))
    .map((block) => ({ block, prerequisite: !wanted.includes(block.group) }));
}

/** Groups that a wanted group waits for, directly or not. */
function neededBy(blocks: readonly Block[], wanted: readonly string[]): ReadonlySet<string> {
  const needs = new Map(blocks.map((block) => [block.group, block.needs]));
  const needed = new Set<string>();
  const follow = (group: string): void =>
    needs.get(group)?.forEach((name) => {
      if (needed.has(name)) return;
      needed.add(name);
      follow(name);
    });
  wanted.forEach(follow);
  return needed;
}
