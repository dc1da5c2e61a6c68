/** A menu: the row under the cursor, of those that match what was typed, and that. */
export type MenuState = { readonly index: number; readonly typed: string };

/** A menu as it opens. */
export function menuAt(index: number): MenuState {
  return { index: Math.max(0, index), typed: '' };
}
