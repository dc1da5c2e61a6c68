import type { Located } from './block.js';
import type { KeyPath } from './diagnostic.js';
import type { GroupText, SweepText } from './sweep-schema.js';

/** A group and the keys above all groups. `above`: the place of the group. */
export type Layers = { readonly sweep: SweepText; readonly group: GroupText; readonly above: KeyPath };

export type SharedKey = keyof SweepText & keyof GroupText;
export type Content<Key extends SharedKey> = Exclude<SweepText[Key], undefined>;

/** The group's value if it has one, else the sweep's, with its place. */
export function inherited<Key extends SharedKey>(layers: Layers, key: Key): Located<Content<Key>> | undefined {
  const { sweep, group, above } = layers;
  const own: SweepText[Key] = group[key];
  if (own !== undefined) return { content: own as Content<Key>, keys: [...above, key] };
  const outer = sweep[key];
  return outer === undefined ? undefined : { content: outer as Content<Key>, keys: [key] };
}

/** Like `inherited`, for a key whose `null` means none: in a group it cancels the inherited value. */
export function inheritedOrNone<Key extends SharedKey>(
  layers: Layers,
  key: Key,
): Located<NonNullable<SweepText[Key]>> | null {
  const said = inherited(layers, key);
  return said === undefined || said.content === null ? null : { content: said.content, keys: said.keys };
}
