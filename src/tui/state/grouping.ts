/** What the list is grouped by. `group`: the groups of the sweep file. */
export type GroupBy =
  | { readonly kind: 'group' }
  | { readonly kind: 'state' }
  | { readonly kind: 'gpu' }
  /** Error messages of failed runs, ignoring numbers and paths. */
  | { readonly kind: 'error' }
  /** No groups: one flat list. Never combined with another level. */
  | { readonly kind: 'none' }
  | { readonly kind: 'parameter'; readonly key: string };

/** The first level and, if there are two, the second. */
export type Grouping = readonly [GroupBy] | readonly [GroupBy, GroupBy];

/** The grouping of the sweep file: groups, and below them settings that differ only in the seed. */
export const initialGrouping: Grouping = [{ kind: 'group' }];

/** Whether all runs are in one list without groups. */
export function isFlat([first]: Grouping): boolean {
  return first.kind === 'none';
}

/** A short text that identifies a grouping; empty for the initial one. */
export function groupingKey(grouping: Grouping): string {
  const key = grouping.map(levelKey).join(' › ');
  return key === 'group' ? '' : key;
}

/** Whether two levels group by the same thing. */
export function isSameLevel(a: GroupBy, b: GroupBy | undefined): boolean {
  return b !== undefined && levelKey(a) === levelKey(b);
}

/** `group, then state` */
export function groupingWords(grouping: Grouping): string {
  return grouping[0].kind === 'none' ? 'nothing' : grouping.map(levelWords).join(', then ');
}

/** The title of a level in the menu of groupings. */
export function levelWords(by: GroupBy): string {
  return by.kind === 'parameter' ? by.key : by.kind === 'gpu' ? 'GPU or slot' : by.kind;
}

function levelKey(by: GroupBy): string {
  return by.kind === 'parameter' ? `parameter ${by.key}` : by.kind;
}
