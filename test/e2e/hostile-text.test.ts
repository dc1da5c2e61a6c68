import { mkdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const { write, read, run, open, at } = workplace();

/** What a terminal could obey; an end of line and a tab are none. */
const obeyed = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;
/** Fills the clipboard, sets the title, changes the screen, asks the terminal, turns the text round. */
const evil = '\u001b]52;c;ZXZpbA==\u0007\u001b]0;evil\u001b\\\u001b[?1049h\u001b[2J\u001b[6n\u009b31m\u202eevil\r';
const inYaml = JSON.stringify(evil);

const command = `[sh, -c, 'echo "$0"; echo "{\\"loss$0\\": 1}" > "$2/metrics.jsonl"; echo "Error: $0" >&2; exit 3', ${inYaml}, 'x', '\${run_dir}']`;
/** Of somebody else: titles, keys, values, the command and what it writes. */
const sweep = `
description: ${inYaml}
command: ${command}
metrics: { show: [${inYaml}] }
groups:
  a:
    title: ${inYaml}
    subgroup: ${inYaml}
    cases:
      - { m: 1, key: ${inYaml} }
      - { m: 2, key: 2 }
    name: 'a{m}'
`;

beforeEach(() => write('evil.yaml', sweep));

describe('foreign text in what is said outside the window', () => {
  it('reaches no terminal and no file of text as codes', { tags: ['long'] }, async () => {
    const first = await run('evil.yaml', '--plain');
    expect({ code: first.code, err: first.err }).toEqual({ code: 3, err: '' });
    mkdirSync(at(`dir${evil}`));
    const said = await Promise.all(
      [
        ['evil.yaml', '--dry-run'],
        ['evil.yaml', '--dry-run', '--verbose'],
        ['evil.yaml', '--dry-run', '--json'],
        ['evil.yaml', '--plain'],
        ['ls'],
        ['ls', '--json'],
        ['status'],
        ['status', '--json'],
        ['wait', 'all'],
        ['wait', 'all', '--json'],
        ['logs', 'all'],
        ['report', 'evil'],
        ['report', 'evil', '--ascii'],
        ['report', 'evil', '--json'],
        ['export', 'evil', '--format', 'json'],
        ['export', 'evil', '--format', 'jsonl'],
        ['kill', 'all', '--dry-run'],
        ['kill', evil],
        ['kill', `"${evil}`],
        ['ls', `${evil}=2`],
        ['logs', 'all', '--grep', `(${evil}`],
        ['report', evil],
        ['status', evil],
        ['export', 'evil', '-o', `none${evil}/x`],
        [`${evil}.yaml`],
        [`dir${evil}`],
        ['ls', `--${evil}`],
        ['ls', '--runs', evil],
        ['wait', 'all', '--timeout', evil],
        ['completion', evil],
        ['drain', evil],
        ['evil.yaml', '--set', evil],
        ['doctor', '--runs', evil],
      ].map(async (words) => ({ words, ...(await run(...words)) })),
    );
    for (const { words, code, out, err } of said) {
      expect({ words, out: obeyed.exec(out), err: obeyed.exec(err) }).toEqual({ words, out: null, err: null });
      expect({ words, err }).not.toMatchObject({ err: expect.stringContaining('bug') as string });
      expect([0, 2, 3, 4, 5]).toContain(code);
      if (words.includes('--json') && (code === 0 || code === 3))
        expect(JSON.stringify(JSON.parse(out))).toContain('evil');
    }
  });

  it('is quoted by the errors of a file without its codes', async () => {
    write('bad.yaml', `command: [${inYaml}\nname ${evil}: }{`);
    write('key.yaml', `command: [x]\n${inYaml}: 3\n`);
    for (const file of ['bad.yaml', 'key.yaml']) {
      const { code, err } = await run(file);
      expect({ code, obeyed: obeyed.exec(err) }).toEqual({ code: 2, obeyed: null });
    }
  });

  it('is as faithful as CSV can be in a file, and without codes on a terminal', { tags: ['long'] }, async () => {
    expect((await run('evil.yaml', '--plain')).code).toBe(3);
    expect((await run('export', 'evil')).out).toContain(evil);
    for (const words of [['export', 'evil'], ['report', 'evil'], ['ls'], ['evil.yaml', '--dry-run'], ['kill', evil]]) {
      const terminal = open(...words);
      await terminal.ended();
      // Colours of ours, and the returns that the terminal itself puts before the ends of lines.
      const text = terminal.output.replace(/\u001b\[[\d;]*m/g, '').replaceAll('\r\n', '\n');
      expect({ words, obeyed: obeyed.exec(text) }).toEqual({ words, obeyed: null });
      terminal.close();
    }
  });
});

describe('parameters called as what every object has', () => {
  it('are parameters like any others, or refused', async () => {
    const groups =
      'groups:\n  a: { parameters: { constructor: [1, 2], toString: 3 } }\n  b: { parameters: { n: 1 } }\n';
    write('names.yaml', `command: [sh, -c, ':', x, '\${args}']\n${groups}`);
    expect((await run('names.yaml', '--plain')).code).toBe(0);
    const record = JSON.parse(read('runs/names/a_constructor2/run.json')) as { parameters: object };
    expect(Object.entries(record.parameters)).toEqual([
      ['constructor', 2],
      ['toString', 3],
    ]);
    const found = JSON.parse((await run('ls', '--json', 'constructor>1')).out) as { parameters: object }[];
    expect(found.map(({ parameters }) => parameters)).toEqual([record.parameters]);
    write('proto.yaml', 'command: [x]\nparameters: { __proto__: 5 }\n');
    const refused = await run('proto.yaml');
    expect({ code: refused.code, err: refused.err }).toMatchObject({
      code: 2,
      err: expect.stringContaining('a key must be a simple word') as string,
    });
  });
});
