import type { EditedLine } from './line-editor.js';
import type { ColumnId } from './list-column-id.js';

/** The dialogs that say how the list is to look. `index`: the row under the cursor. */
export type ListDialog =
  | { readonly kind: 'grouping'; readonly index: number }
  /** `order`: all columns there can be, as they stand in the dialog; those that are shown keep this order. */
  | { readonly kind: 'columns'; readonly index: number; readonly order: readonly ColumnId[] }
  /** `name`: that of a view while it is typed. */
  | { readonly kind: 'views'; readonly index: number; readonly name: EditedLine | null };
