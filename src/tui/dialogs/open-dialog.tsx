import { Box } from 'ink';
import { useCallback } from 'react';
import { textWidth } from '../../text/display-width.js';
import { type DrawModel, ModelCanvas, useModel, useWheel } from '../model/use-model.js';
import type { FilterDialog } from '../state/ui-state.js';
import { Canvas } from '../surface/canvas.js';
import type { Size } from '../surface/surface.js';
import { Dialog } from '../widgets/dialog.js';
import { dialogWidth } from '../widgets/dialog-size.js';
import { fitLine, lineWidth } from '../widgets/span.js';
import { offered, openBox } from './dialogs.js';

type Props = { readonly size: Size; readonly isSmall: boolean };

/** The dialog that is open, if there is one. */
export function OpenDialog({ size, isSmall }: Props) {
  const dialog = useModel((model) => model.ui.dialog);
  if (dialog.kind === 'none') return null;
  if (dialog.kind === 'filter') return <Offer dialog={dialog} size={size} below={isSmall ? 1 : 2} />;
  return <BoxedDialog size={size} />;
}

function BoxedDialog({ size }: { readonly size: Size }) {
  const wheel = useWheel();
  const model = useModel((now) => now);
  const draw = useCallback<DrawModel>(
    (now, { width }) => openBox(now, size)?.lines.map((line) => fitLine(line, width)) ?? [],
    [size],
  );
  const box = openBox(model, size);
  if (box === null) return null;
  const width = dialogWidth(Math.max(box.title.length + 2, ...box.lines.map(lineWidth)), size.width);
  const height = Math.min(box.lines.length, Math.max(0, size.height - 2));
  return (
    <Dialog title={box.title} screen={size} width={width} height={height} below={box.below}>
      <ModelCanvas width={width} height={height} draw={draw} onPoint={wheel} />
    </Dialog>
  );
}

type OfferProps = { readonly dialog: FilterDialog; readonly size: Size; readonly below: number };

/** What the filter that is typed can go on with, above the word it belongs to. */
function Offer({ dialog: { line, offer }, size, below }: OfferProps) {
  const column = 3 + textWidth(line.text.slice(0, offer.from));
  const list = offered(offer, size, { column, below });
  if (list === null) return null;
  return (
    <Box position="absolute" marginLeft={list.left} marginTop={list.top}>
      <Canvas width={list.width} height={list.lines.length} draw={() => list.lines} />
    </Box>
  );
}
