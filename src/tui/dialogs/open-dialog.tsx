import { useModel } from '../model/use-model.js';
import type { Size } from '../surface/surface.js';
import { moduleOf } from './dialog-handler.js';

type Props = { readonly size: Size; readonly isSmall: boolean };

/** The open dialog, if there is one. */
export function OpenDialog({ size, isSmall }: Props) {
  const dialog = useModel((model) => model.ui.dialog);
  if (dialog.kind === 'none') return null;
  const { Dialog } = moduleOf(dialog);
  return <Dialog key={dialog.kind} {...{ dialog, size, isSmall }} />;
}
