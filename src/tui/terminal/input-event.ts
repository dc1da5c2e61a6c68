/** User input reported by a terminal. Columns and rows count from 0 at the top left. */
export type InputEvent =
  | { readonly kind: 'key'; readonly name: string }
  /** Pasted text in one piece; it may contain anything, including line ends. */
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'click'; readonly column: number; readonly row: number }
  /** The pointer has moved to another cell with the left button down. */
  | { readonly kind: 'drag'; readonly column: number; readonly row: number }
  /** The pointer has moved to another cell with no button down. */
  | { readonly kind: 'move'; readonly column: number; readonly row: number }
  | { readonly kind: 'wheel'; readonly way: 'up' | 'down'; readonly column: number; readonly row: number }
  /**
   * The answer to `keyboardQuestion`: the terminal can distinguish keys that otherwise send the same code (kitty's keyboard
   * protocol).
   */
  | { readonly kind: 'keyboard' }
  /** The answer to a question of `GraphicsFinder`, as received. */
  | { readonly kind: 'answer'; readonly codes: string };
