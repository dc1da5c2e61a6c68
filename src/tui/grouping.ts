/** What the list is divided by. A block is what the sweep file calls a group. */
export type GroupBy =
  | { readonly kind: 'block' }
  | { readonly kind: 'state' }
  | { readonly kind: 'gpu' }
  | { readonly kind: 'parameter'; readonly key: string };

/** The first level and, if there are two, the second. */
export type Grouping = readonly [GroupBy] | readonly [GroupBy, GroupBy];

/** As the sweep file has it: groups, and below them the settings that differ in the seed alone. */
export const initialGrouping: Grouping = [{ kind: 'block' }];
