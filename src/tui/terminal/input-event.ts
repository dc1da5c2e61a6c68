/** What a terminal tells of what a person does. Columns and rows count from 0 at the top left. */
export type InputEvent =
  | { readonly kind: 'key'; readonly name: string }
  /** Text that was pasted, in one piece; it may hold anything, line ends too. */
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'click'; readonly column: number; readonly row: number }
  /** The pointer is over another cell, with no button down. */
  | { readonly kind: 'move'; readonly column: number; readonly row: number }
  | { readonly kind: 'wheel'; readonly way: 'up' | 'down'; readonly column: number; readonly row: number }
  /** The terminal can tell keys apart that are one code otherwise (kitty's keyboard protocol): its answer to `keyboardQuestion`. */
  | { readonly kind: 'keyboard' }
  /** The terminal has answered a question of `GraphicsFinder`; the codes as they came. */
  | { readonly kind: 'answer'; readonly codes: string };
