import type { Pressed } from '../keys/key-context.js';
import type { Effect, UiState } from '../state/ui-state.js';
import { DialogBox, dialogFrame, dialogWidth } from '../widgets/dialog-box.js';
import type { KeyHint } from '../widgets/line-parts.js';
import { Paragraph, Text } from '../widgets/text.js';
import { wrapWithin } from '../../text/wrap.js';
import { textWidth } from '../../text/display-width.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';

/**
 * A question before a request. `detail`: what will happen, in words. `yes`: the keys that confirm; never the key that asked, which
 * may be pressed twice by accident.
 */
type ConfirmState = {
  readonly question: string;
  readonly detail: string | null;
  readonly yes: readonly string[];
  readonly order: Effect;
};

declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly confirm: ConfirmState;
  }
}

/** Asks before an action that cannot be undone. Any key but a clear yes means no, because keys may have been typed ahead. */
export const confirm: DialogModule<'confirm'> = { press, hints, Dialog: ConfirmDialog };

function hints({ yes }: DialogOf<'confirm'>): readonly KeyHint[] {
  return [
    [yes.map(shownKey).join(' or '), 'yes'],
    ['any other key', 'no'],
  ];
}

function shownKey(key: string): string {
  return key === 'enter' ? 'Enter' : key;
}

function press(ui: UiState, { yes, order }: DialogOf<'confirm'>, key: string): Pressed {
  if (yes.includes(key)) return { ui: closedDialog(ui), order };
  return { ui: { ...closedDialog(ui), note: { text: `Nothing was ${doneBy(order)}.`, tone: 'dim' } } };
}

function doneBy({ type }: Effect): string {
  return type === 'kill' || type === 'stop-sweep' ? 'killed' : 'done';
}

const mostRows = 3;

/** Drawn right above the row of keys, which lists the answers, so that it covers little of the list. */
function ConfirmDialog({ dialog: { question, detail }, size }: DialogProps<'confirm'>) {
  const room = size.width - dialogFrame;
  const width = dialogWidth(Math.max(textWidth(question), textWidth(detail ?? '')), size.width);
  const rows = (text: string | null): number =>
    text === null ? 0 : wrapWithin(text, Math.min(room, width), mostRows).length;
  const height = rows(question) + rows(detail);
  const top = Math.max(0, size.height - 1 - height - 2);
  return (
    <DialogBox title="sure?" screen={size} ground="alarm" border="strong" {...{ width, height, top }}>
      <Paragraph tone="strong" width={width} rows={mostRows}>
        {question}
      </Paragraph>
      {detail === null ? (
        <Text />
      ) : (
        <Paragraph width={width} rows={mostRows}>
          {detail}
        </Paragraph>
      )}
    </DialogBox>
  );
}
