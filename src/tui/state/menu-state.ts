/** A menu: the index among the rows that match the typed text, and that text. */
export type MenuState = { readonly index: number; readonly typed: string };

/** The state of a newly opened menu. */
export function menuAt(index: number): MenuState {
  return { index: Math.max(0, index), typed: '' };
}
