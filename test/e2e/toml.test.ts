import { chmodSync, readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { openTerminal, type OpenTerminal } from '../../scripts/terminal.js';
import { program, workplace } from './program.js';

const place = workplace();
let terminal: OpenTerminal | null = null;
afterEach(() => terminal?.close());

const sweep = (seeds: string) => `# A comment that stays.
name = "little"
command = ["sh", "-c", 'echo step=1 loss=$2', "\${args_no_equals}"]
metric = { name = "loss" }

[parameters]
seed = [${seeds}]

[groups.A]
title = "The first ones"
name = "s{seed}"
`;

describe('a sweep file in TOML', () => {
  it('is launched, kept as it is, reported, and extended in the editor', async () => {
    place.write('little.toml', sweep('0, 1'));
    expect((await place.run('little.toml', '--plain')).code).toBe(0);
    expect(place.read('runs/little/sweep.toml')).toBe(sweep('0, 1'));
    expect(readdirSync(place.at('runs/little'))).not.toContain('sweep.yaml');
    expect((await place.run('report', 'little')).out).toContain('The first ones');
    expect((await place.run('little.toml', '--dry-run')).out).toContain('2 already done');
    place.write('editor', `#!/bin/sh\nsed -i 's/0, 1/0, 1, 2/' "$1"\n`);
    chmodSync(place.at('editor'), 0o700);
    terminal = openTerminal({
      ...{ command: process.execPath, args: [program, 'extend', 'little'], columns: 120, rows: 40 },
      cwd: place.folder(),
      environment: { ...process.env, TERM: 'xterm-256color', LANG: 'C.UTF-8', CI: undefined, VISUAL: undefined, EDITOR: place.at('editor') }, // prettier-ignore
    });
    const shows = (what: RegExp) => terminal!.waitFor((rows) => rows.some((row) => what.test(row)));
    await shows(/A {2}1 new: s2/);
    terminal.write('y\r');
    await shows(/Write the text to .*little\.toml too\?/);
    terminal.write('y\r');
    expect(await terminal.ended()).toMatchObject({ code: 0 });
    expect(place.read('little.toml')).toBe(sweep('0, 1, 2'));
    expect(place.read('runs/little/sweep.toml')).toBe(sweep('0, 1, 2'));
    expect((await place.run('wait', 'little')).code).toBe(0);
    expect((await place.run('ls', 'little')).out).toContain('s2');
  });

  it('has its mistakes shown where they are', async () => {
    place.write('little.toml', sweep('0, "x"').replace('title', 'titel'));
    const { code, err } = await place.run('little.toml', '--dry-run');
    expect([code, err]).toEqual([2, expect.stringContaining('little.toml:10:1: groups.A.titel: `titel` is not a key')]);
    expect(readdirSync(place.folder())).toEqual(['little.toml']);
  });

  it('can be searched by a supervisor that chooses points one by one', async () => {
    const search = `method = "bayes"
run_cap = 4
command = ["sh", "-c", 'echo loss=$2', "\${args_no_equals}"]
metric.name = "loss"
parameters.x = { min = 0.0, max = 1.0 }
`;
    place.write('search.toml', search);
    expect((await place.run('search.toml', '--plain')).code).toBe(0);
    expect((await place.run('ls', 'search')).out.match(/done/g)).toHaveLength(4);
  });
});
