import { Box } from 'ink';
import { cleanText } from '../../text/display-text.js';
import { wrapWithin } from '../../text/wrap.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import type { Draft } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';
import { DialogBox, dialogFrame, dialogWidth } from '../widgets/dialog-box.js';
import { hintLine, type KeyHint } from '../widgets/line-parts.js';
import { type Line, lineWidth, span } from '../surface/span.js';
import { Rows, Spans, Text } from '../widgets/text.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps, scrolledBy } from './dialog-module.js';

declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly draft: { readonly draft: Draft; readonly top: number };
  }
}

/**
 * Shows runs written in an editor: what submitting them would do, or what is wrong with them. After submission it asks whether to
 * write the same text to the user's own file.
 */
export const draft: DialogModule<'draft'> = { press, hints: ({ draft }) => hints(draft), Dialog: DraftDialog };

function hints({ verdict }: Draft): readonly KeyHint[] {
  const edit = 'edit again';
  if (verdict.kind === 'submitted') {
    const leave: KeyHint = ['Esc', verdict.asks ? 'leave it as it is' : 'close'];
    return verdict.asks ? [['Enter', 'write the file'], leave] : [leave];
  }
  if (verdict.kind !== 'ready') {
    return [
      ['Enter', edit],
      ['Esc', 'cancel'],
    ];
  }
  return [
    ['Enter', 'submit'],
    ['e', edit],
    ['Esc', 'cancel'],
  ];
}

function press(ui: UiState, dialog: DialogOf<'draft'>, key: string, at: KeyContext): Pressed {
  const { verdict, path } = dialog.draft;
  const isReady = verdict.kind === 'ready';
  if (verdict.kind === 'submitted') return pressSubmitted(ui, key, verdict.asks);
  if (key === 'escape') return { ui: closedDialog(ui), order: { type: 'drop-draft' } };
  if (key === 'e') return { ui, order: { type: 'edit-draft' } };
  if (key === 'enter') return { ui, order: { type: isReady ? 'submit-draft' : 'edit-draft' } };
  const { length } = draftLines(dialog.draft, at.width - dialogFrame);
  const page = Math.max(1, at.page - frameRows(dialog.draft, at.page < leastRoomy));
  const scrolled = scrolledBy(ui, dialog, key, { at, length, page });
  return (
    scrolled ??
    refuse(ui, `Enter ${isReady ? 'submits' : 'edits it again'}, Esc discards it; the text is kept in ${path}.`)
  );
}

/** Handles a key after submission; the runs are submitted whatever the answer. */
function pressSubmitted(ui: UiState, key: string, asks: boolean): Pressed {
  const isYes = key === 'enter' || key === 'y';
  if (asks && isYes) return { ui, order: { type: 'write-draft' } };
  if (isYes || key === 'escape' || key === 'n') return { ui, order: { type: 'leave-draft' } };
  return refuse(ui, asks ? 'Enter writes the file, Esc leaves it as it is.' : 'Esc closes this.');
}

/** Minimum rows of a screen for repeating in the box what the footer says. */
const leastRoomy = 18;

/** Rows of the box besides the lines: the summary above, keys and file below them. */
function frameRows({ verdict }: Draft, isTight: boolean): number {
  const head = verdict.kind === 'ready' ? (isTight ? 1 : 2) : 0;
  return head + (isTight ? 0 : 3);
}

/** What submitting would do, or what is wrong, in lines of at most `width` columns. */
function draftLines({ verdict }: Draft, width: number): Line[] {
  const said = 'lines' in verdict ? verdict.lines : [verdict.why];
  return said.flatMap((line) => {
    const tone = toneOf(line, verdict);
    return wrapped(line, width).map((part): Line => [span(part, tone)]);
  });
}

/** Wraps a line. Lines with a mark below them are not wrapped, so that the columns stay aligned. */
function wrapped(line: string, width: number): readonly string[] {
  const text = cleanText(line);
  return /^\s*\d* \| /.test(text) ? [text] : wrapWithin(text, width, 12);
}

function toneOf(line: string, { kind }: Draft['verdict']): 'plain' | 'bad' {
  return kind !== 'refused' || /^\s*(→|-|\d* \|)/.test(line) ? 'plain' : 'bad';
}

function DraftDialog({ dialog, size }: DialogProps<'draft'>) {
  const { title, path, verdict } = dialog.draft;
  const lines = draftLines(dialog.draft, size.width - dialogFrame);
  const isTight = size.height - 4 < leastRoomy;
  const keys = hintLine(hints(dialog.draft));
  const summary = verdict.kind === 'ready' ? verdict.summary : null;
  const around = [keys, [span(cleanText(path))], [span(summary ?? '')], [span(` ${title} `)]];
  const width = dialogWidth(Math.max(...[...lines, ...around].map(lineWidth)), size.width);
  const beside = frameRows(dialog.draft, isTight);
  const room = Math.max(1, Math.min(lines.length, size.height - 4 - beside));
  const top = Math.max(0, Math.min(dialog.top, lines.length - room));
  const below = Math.max(0, lines.length - top - room);
  return (
    <DialogBox title={title} screen={size} width={width} height={room + beside} below={below}>
      {summary !== null && (
        <Box flexDirection="column" height={isTight ? 1 : 2} flexShrink={0}>
          <Text tone="strong">{summary}</Text>
        </Box>
      )}
      <Rows lines={lines.slice(top, top + room)} />
      {!isTight && (
        <Box flexDirection="column" marginTop={1}>
          <Spans line={keys} />
          <Text tone="faint"> {verdict.kind === 'submitted' ? '' : cleanText(path)}</Text>
        </Box>
      )}
    </DialogBox>
  );
}
