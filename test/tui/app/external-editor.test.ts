import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { PreferencesFile } from '../../../src/files/preferences.js';
import { ExternalEditor } from '../../../src/tui/app/external-editor.js';
import type { EditorPort, Draft } from '../../../src/tui/state/port.js';
import type { EditorEffect } from '../../../src/tui/state/ui-state.js';
import { preferencesIn } from '../../../src/tui/app/preferences.js';
import { aRun } from '../simulated-fleet.js';
import { removeFolder } from '../../remove-folder.js';
import { PATIENCE_MS } from '../../patience.js';

let folder: string;
let path: string;
/** All that the editor did to the window, in order. */
let did: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memrl-editor-'));
  path = join(folder, 'preferences.json');
  did = [];
});
afterEach(() => removeFolder(folder));

const draft: Draft = {
  title: 'extend abcd',
  path: '/drafts/a.yaml',
  verdict: { kind: 'ready', summary: '1 new run', lines: [] },
};

function editorWith(port?: Partial<EditorPort>): ExternalEditor {
  const full: EditorPort = {
    commandOf: () => 'memrl train N=64',
    openShell: (directory) => void did.push(`shell in ${directory}`),
    openTerminal: ({ name }) => void did.push(`terminal of ${name}`),
    extend: () => draft,
    clone: () => ({ ...draft, title: 'clone A_x' }),
    edit: (old) => ({ ...old, verdict: { kind: 'unchanged', why: 'Nothing was changed.' } }),
    submit: () => Promise.resolve({ ok: true, message: '1 run was launched' }),
    ownFile: () => null,
    writeOwnFile: () => void did.push('written'),
    ...port,
  };
  return new ExternalEditor({
    port: port === undefined ? undefined : full,
    preferences: preferencesIn(new PreferencesFile(path)),
    lend: (use) => {
      did.push('lent');
      return use();
    },
    write: (codes) => did.push(JSON.stringify(codes)),
    say: ({ text, tone }) => did.push(`${tone}: ${text}`),
    review: (shown) => did.push(shown === null ? 'review ends' : `review ${shown.title}, ${shown.verdict.kind}`),
  });
}

/** What an order leads to; `until`: words that come last, where it takes a while. */
async function after(editor: ExternalEditor, order: EditorEffect, until = ''): Promise<string[]> {
  did = [];
  editor.run(order);
  await vi.waitFor(() => expect(did.at(-1) ?? '').toContain(until), PATIENCE_MS);
  return did;
}

describe('what a person prefers', () => {
  it.each<[string, Extract<EditorEffect, { type: 'prefer' }>, object, string]>([
    ['a theme', { type: 'prefer', change: { theme: 'light' } }, { theme: 'light' }, 'good: theme light; saved'],
    ['keys', { type: 'prefer', change: { keys: 'vim' } }, { keys: 'vim' }, 'good: keys vim; saved'],
    ['no mouse', { type: 'prefer', change: { mouse: false } }, { mouse: false }, 'good: mouse off; saved'],
  ])('is kept in the file: %s', async (_, order, kept, said) => {
    writeFileSync(path, '{"newer":1}');
    await after(editorWith({}), order, said);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ newer: 1, ...kept });
  });

  it('holds although it cannot be kept, and that is said', async () => {
    path = join(folder, 'file', 'preferences.json');
    writeFileSync(join(folder, 'file'), '');
    const [said] = await after(editorWith({}), { type: 'prefer', change: { theme: 'mono' } }, 'could not be saved');
    expect(said).toMatch(/^warn: theme mono; it could not be saved: .*preferences\.json/);
  });
});

describe('other programs', () => {
  const run = aRun('A_x');

  it('get the terminal for as long as they run', async () => {
    const order = { type: 'shell', directory: '/runs/a', what: 'A_x' } as const;
    expect(await after(editorWith({}), order)).toEqual(['lent', 'shell in /runs/a', 'dim: Back from A_x.']);
  });

  it('put the command on the clipboard of the terminal, if it takes so much', async () => {
    const text = Buffer.from('memrl train N=64').toString('base64');
    expect((await after(editorWith({}), { type: 'copy', run }))[0]).toBe(JSON.stringify(`\u001b]52;c;${text}\u0007`));
    const [said, more] = await after(editorWith({ commandOf: () => 'x'.repeat(50_001) }), { type: 'copy', run });
    expect(said).toMatch(/^bad: The command has 50001 characters.* → It is in run\.json/);
    expect(more).toBeUndefined();
  });

  it('put no command on it that a terminal would obey when it is pasted', async () => {
    const ended = "echo 'a\u001b[201~\nrm -rf x'";
    const [said, more] = await after(editorWith({ commandOf: () => ended }), { type: 'copy', run });
    expect(said).toMatch(/^bad: The command holds control characters.* → It is in run\.json/);
    expect(more).toBeUndefined();
    const script = Buffer.from("sh -c 'a\n\tb'").toString('base64');
    const [copied] = await after(editorWith({ commandOf: () => "sh -c 'a\n\tb'" }), { type: 'copy', run });
    expect(copied).toBe(JSON.stringify(`\u001b]52;c;${script}\u0007`));
  });

  it('that cannot be started are told with what to do', async () => {
    const failing = editorWith({
      extend: () => {
        throw new UserError('There is no editor.', 'Set EDITOR.');
      },
    });
    expect(await after(failing, { type: 'extend', sweep: 'abcd' })).toEqual([
      'lent',
      'bad: There is no editor. → Set EDITOR.',
    ]);
  });

  it('are not there for a window that was opened to look', async () => {
    const [said] = await after(editorWith(), { type: 'clone', run });
    expect(said).toContain('This window is read-only.');
  });
});

describe('a draft', () => {
  it('is shown, submitted and gone', async () => {
    const editor = editorWith({});
    expect(await after(editor, { type: 'extend', sweep: 'abcd' })).toEqual(['lent', 'review extend abcd, ready']);
    const said = await after(editor, { type: 'submit-draft' }, 'launched');
    expect(said).toEqual(['review ends', 'dim: Submitting: extend abcd …', 'good: extend abcd: 1 run was launched']);
    expect(await after(editor, { type: 'submit-draft' })).toEqual([]);
  });

  it.each<[string, () => Promise<never> | ReturnType<EditorPort['submit']>]>([
    ['is refused', () => Promise.resolve({ ok: false, message: 'The disk is full.', fix: 'Make room.' })],
    ['cannot be sent', () => Promise.reject(new UserError('The disk is full.', 'Make room.'))],
    ['fails in a way nobody thought of', () => Promise.reject(new Error('The disk is full.'))],
  ])('that %s stays open with the reason', async (_, submit) => {
    const editor = editorWith({ submit });
    await after(editor, { type: 'extend', sweep: 'abcd' });
    await after(editor, { type: 'submit-draft' }, 'review extend abcd, refused');
    expect(await after(editor, { type: 'drop-draft' }, 'is kept in /drafts/a.yaml')).toContain('review ends');
  });

  const own = { path: 'abcd.yaml', kept: 'runs/abcd/sweep.yaml', isAsKnown: true };

  it.each([
    { answer: 'write-draft', did: ['review ends', 'written', 'good: Written to abcd.yaml.'] },
    {
      answer: 'leave-draft',
      did: ['review ends', 'dim: Not written to abcd.yaml; the text is in runs/abcd/sweep.yaml.'],
    },
  ] as const)(
    'that was submitted is written to the own file only if one wants it: $answer',
    async ({ answer, did: done }) => {
      const editor = editorWith({ ownFile: () => own });
      await after(editor, { type: 'extend', sweep: 'abcd' });
      await after(editor, { type: 'submit-draft' }, 'review extend abcd, submitted');
      expect(did).not.toContain('written');
      expect(await after(editor, { type: answer })).toEqual(done);
      expect(await after(editor, { type: answer })).not.toContain('written');
    },
  );

  it('that was submitted is not written over what somebody else has changed, and where it is kept is said', async () => {
    const editor = editorWith({ ownFile: () => ({ ...own, isAsKnown: false }) });
    await after(editor, { type: 'extend', sweep: 'abcd' });
    await after(editor, { type: 'submit-draft' }, 'review extend abcd, submitted');
    const said = await after(editor, { type: 'leave-draft' });
    expect(said).toEqual(['review ends', 'dim: Not written to abcd.yaml; the text is in runs/abcd/sweep.yaml.']);
  });

  it('that comes unchanged from the editor is gone, and why is said', async () => {
    const editor = editorWith({});
    await after(editor, { type: 'extend', sweep: 'abcd' });
    expect(await after(editor, { type: 'edit-draft' })).toEqual(['lent', 'review ends', 'warn: Nothing was changed.']);
    expect(await after(editor, { type: 'edit-draft' })).toEqual([]);
  });
});
