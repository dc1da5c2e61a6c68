import { assertNever } from '../../base/assert-never.js';
import { errorText, UserError } from '../../base/user-error.js';
import { cleanText } from '../../text/display-text.js';
import type { Draft, EditorPort } from '../state/port.js';
import type { EditorEffect, Note } from '../state/ui-state.js';
import type { PreferencesPort } from '../state/preferences-port.js';

/** What the editor needs of the surrounding window. */
type EditorTools = {
  /** Undefined: the window was opened without one. */
  readonly port: EditorPort | undefined;
  readonly preferences: PreferencesPort | undefined;
  /** Gives the terminal to other programs for the duration of `use`. */
  readonly lend: <Result>(use: () => Result) => Result;
  /** Sends codes to the terminal. */
  readonly write: (codes: string) => void;
  readonly say: (note: Note) => void;
  /** Shows what submitting the draft would do; null: stops showing it. */
  readonly review: (draft: Draft | null) => void;
};

/** Characters that would end a paste or act as keys in the shell that the text is pasted into. Line ends are allowed. */
const commanding = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

type DraftOrder = Extract<EditorEffect['type'], `${string}-draft`>;

/** Carries out effects that need other programs: the clipboard, a shell, an editor. */
export class ExternalEditor {
  readonly #tools: EditorTools;
  #draft: Draft | null = null;

  constructor(tools: EditorTools) {
    this.#tools = tools;
  }

  /** Carries out an effect. Failures are shown, not thrown, except bugs. */
  run(order: EditorEffect): void {
    const { port } = this.#tools;
    if (order.type !== 'prefer' && port?.loading) return void port.loading.then(() => this.#carryOut(order));
    this.#carryOut(order);
  }

  #carryOut(order: EditorEffect): void {
    try {
      if (order.type === 'prefer') void this.#prefer(order);
      else this.#work(order, this.#port());
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.#tools.say({ text: cleanText(`${error.message} → ${error.fix}`), tone: 'bad' });
    }
  }

  #work(order: Exclude<EditorEffect, { type: 'prefer' }>, port: EditorPort): void {
    switch (order.type) {
      case 'copy':
        return this.#copy(port.commandOf(order.run));
      case 'shell':
        this.#tools.lend(() => port.openShell(order.directory));
        return this.#tools.say({ text: `Back from ${order.what}.`, tone: 'dim' });
      case 'terminal':
        this.#tools.lend(() => port.openTerminal(order.run));
        return this.#tools.say({ text: `Back from the terminal of ${order.run.name}.`, tone: 'dim' });
      case 'extend':
        return this.#take(this.#tools.lend(() => port.extend(order.sweep)));
      case 'clone':
        return this.#take(this.#tools.lend(() => port.clone(order.run)));
      default:
        return this.#workOnDraft(order.type, port);
    }
  }

  #workOnDraft(type: DraftOrder, port: EditorPort): void {
    switch (type) {
      case 'edit-draft': {
        const draft = this.#draft;
        if (draft !== null) this.#take(this.#tools.lend(() => port.edit(draft)));
        return;
      }
      case 'drop-draft':
        return this.#drop();
      case 'submit-draft':
        return void this.#submit(port);
      case 'write-draft':
        return this.#writeOwn(port);
      case 'leave-draft':
        return this.#leaveOwn(port);
      default:
        return assertNever(type);
    }
  }

  #copy(text: string): void {
    if (text.length > mostCopied) {
      throw new UserError(
        `The command has ${text.length} characters; terminals take ${mostCopied} at most.`,
        'It is in run.json of the run: o opens its directory.',
      );
    }
    if (commanding.test(text)) {
      throw new UserError(
        'The command holds control characters: a terminal would execute them when pasted.',
        'It is in run.json of the run: o opens its directory.',
      );
    }
    this.#tools.write(clipboardCodes(text));
    this.#tools.say({ text: cleanText(`Copied: ${text}`), tone: 'good' });
  }

  #take(draft: Draft): void {
    const isOpen = draft.verdict.kind !== 'unchanged';
    this.#draft = isOpen ? draft : null;
    this.#tools.review(this.#draft);
    if (draft.verdict.kind === 'unchanged') this.#tools.say({ text: draft.verdict.why, tone: 'warn' });
  }

  #drop(): void {
    const draft = this.#draft;
    this.#draft = null;
    this.#tools.review(null);
    if (draft !== null)
      this.#tools.say({ text: `Nothing was submitted. The text is kept in ${draft.path}.`, tone: 'dim' });
  }

  /** Submits the draft. A refused draft stays open with the reason, so no typed text is lost. */
  async #submit(port: EditorPort): Promise<void> {
    const draft = this.#draft;
    if (draft === null) return;
    this.#tools.review(null);
    this.#tools.say({ text: `Submitting: ${draft.title} …`, tone: 'dim' });
    const ack = await port.submit(draft).catch((error: unknown) => refused(error));
    if (ack.ok) return this.#submitted(draft, ack.message, port);
    const why = [ack.message, ...(ack.fix === null ? [] : [`→ ${ack.fix}`])];
    this.#take({ ...draft, verdict: { kind: 'refused', lines: why } });
  }

  /** Called after submission. Asks whether to write the change to the user's own file, which is still unchanged. */
  #submitted(draft: Draft, message: string, port: EditorPort): void {
    const own = port.ownFile(draft);
    if (own === null) {
      this.#draft = null;
      return this.#tools.say({ text: cleanText(`${draft.title}: ${message}`), tone: 'good' });
    }
    const { path, kept, isAsKnown: asks } = own;
    const done = draft.verdict.kind === 'ready' ? `Submitted: ${draft.verdict.summary}.` : `${message}.`;
    const rest = asks
      ? `Write the text to ${path} too? Otherwise it is kept in ${kept} alone.`
      : `${path} differs from the text before this edit, and is left as it is: the edited text is in ${kept}.`;
    this.#take({ ...draft, verdict: { kind: 'submitted', asks, lines: [done, rest] } });
  }

  #writeOwn(port: EditorPort): void {
    const draft = this.#finished();
    if (draft === null) return;
    port.writeOwnFile(draft);
    const own = port.ownFile(draft);
    this.#tools.say({ text: cleanText(`Written to ${own?.path ?? 'its file'}.`), tone: 'good' });
  }

  #leaveOwn(port: EditorPort): void {
    const draft = this.#finished();
    const own = draft === null ? null : port.ownFile(draft);
    if (own !== null)
      this.#tools.say({ text: cleanText(`Not written to ${own.path}; the text is in ${own.kept}.`), tone: 'dim' });
  }

  /** Returns the submitted draft and closes the question about it. */
  #finished(): Draft | null {
    const draft = this.#draft;
    this.#draft = null;
    this.#tools.review(null);
    return draft;
  }

  async #prefer({ change }: Extract<EditorEffect, { type: 'prefer' }>): Promise<void> {
    const { preferences, say } = this.#tools;
    const words = Object.entries(change).map(
      ([name, value]) => `${name} ${typeof value === 'boolean' ? (value ? 'on' : 'off') : value}`,
    );
    if (preferences === undefined) return say({ text: 'This window does not save preferences.', tone: 'warn' });
    const problem = await preferences.keep(change);
    if (problem !== null)
      return say({ text: cleanText(`${words.join(', ')}; it could not be saved: ${problem}`), tone: 'warn' });
    say({ text: `${words.join(', ')}; saved for other windows too.`, tone: 'good' });
  }

  #port(): EditorPort {
    const { port } = this.#tools;
    if (port !== undefined) return port;
    throw new UserError('This window is read-only.', 'Open it with `memrl-tui attach`.');
  }
}

function refused(error: unknown): { ok: false; message: string; fix: string | null } {
  if (error instanceof UserError) return { ok: false, message: error.message, fix: error.fix };
  return { ok: false, message: errorText(error), fix: null };
}

/** Maximum number of characters to copy: xterm and tmux read about 100,000 bytes of base64 at once. */
const mostCopied = 50_000;

/**
 * The codes that copy a text to the clipboard of the user's own terminal, also over ssh (OSC 52). tmux passes it on if
 * `set-clipboard` is on; a terminal that does not support it shows nothing.
 */
function clipboardCodes(text: string): string {
  return `\u001b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\u0007`;
}
