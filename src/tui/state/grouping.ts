/** What the list is grouped by. `group`: the groups of the sweep file. */
export type GroupBy =
  | { readonly kind: 'group' }
  | { readonly kind: 'state' }
  | { readonly kind: 'gpu' }
  /** What failed runs said, numbers and paths left aside. */
  | { readonly kind: 'error' }
  /** No groups: one flat list in one order. Never together with another level. */
  | { readonly kind: 'none' }
  | { readonly kind: 'parameter'; readonly key: string };

/** The first level and, if there are two, the second. */
export type Grouping = readonly [GroupBy] | readonly [GroupBy, GroupBy];

/** As the sweep file has it: groups, and below them the settings that differ in the seed alone. */
export const initialGrouping: Grouping = [{ kind: 'group' }];

/** Every run in one list, the groups gone. */
export function isFlat([first]: Grouping): boolean {
  return first.kind === 'none';
}

/** A short text that tells one grouping from another; empty for the initial one. */
export function groupingKey(grouping: Grouping): string {
  const key = grouping.map(levelKey).join(' › ');
  return key === 'group' ? '' : key;
}

/** Whether two levels divide the list by the same thing. */
export function isSameLevel(a: GroupBy, b: GroupBy | undefined): boolean {
  return b !== undefined && levelKey(a) === levelKey(b);
}

/** `group, then state` */
export function groupingWords(grouping: Grouping): string {
  return grouping[0].kind === 'none' ? 'nothing' : grouping.map(levelWords).join(', then ');
}

/** What a level is called where a person chooses it. */
export function levelWords(by: GroupBy): string {
  return by.kind === 'parameter' ? by.key : by.kind === 'gpu' ? 'GPU or slot' : by.kind;
}

function levelKey(by: GroupBy): string {
  return by.kind === 'parameter' ? `parameter ${by.key}` : by.kind;
}
