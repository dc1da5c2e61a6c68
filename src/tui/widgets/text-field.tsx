import type { EditedLine } from '../state/line-editor.js';
import { lineWithCursor } from './line-with-cursor.js';
import { Spans } from './text.js';

type Props = { readonly line: EditedLine; readonly width: number };

/** A line of text being typed, with its cursor visible. */
export function TextField({ line, width }: Props) {
  return <Spans line={lineWithCursor(line, width)} />;
}
