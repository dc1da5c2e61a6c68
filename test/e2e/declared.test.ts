import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const place = workplace();
const fixtures = join(process.cwd(), 'test/fixtures');
const ofWandb = { lr: 0.1, depth: 3, 'net.width': 8, opt: 'adam' };

/** What programs leave behind, and what they have declared in it. */
const writers: Readonly<Record<string, Partial<Row>>> = {
  'metrics/wandb-defined': {
    ...{ declared: expect.objectContaining(ofWandb) as object, displayName: 'nice-name' },
    ...{ tags: ['a', 'b', 'late'], note: 'last note' },
  },
  'metrics/wandb-defined-0.16': { declared: expect.objectContaining(ofWandb) as object, displayName: 'nice-name' },
  'found/mlruns/848542468020045690/0a768415fbaf4656b1038f6ca0c7399e': { declared: { lr: 0.01, seed: 0, opt: 'adam' } },
  'found/hparams/run10': { declared: { lr: 0.01, seed: 0 } },
  'metrics/trackio': { declared: { lr: 0.1 }, displayName: 'first' },
  'found/hugging-face/out_10': { declared: expect.objectContaining({ learning_rate: 0.01, max_steps: 20 }) as object },
};

type Row = {
  readonly name: string;
  readonly parameters: { readonly files: string };
  readonly declared: object;
  readonly displayName: string | null;
  readonly warning: string | null;
  readonly tags: readonly string[];
  readonly note: string | null;
};

/** Each run has what one of these programs has left. */
const sweep = (parameters: string) => `name: s
resources: { gpus: 0 }
command: [sh, -c, 'mkdir "$2/store" && cp -r "$0/$1" "$2/store/run"', '${fixtures}', '\${files}', '\${run_dir}']
parameters: ${parameters}
`;

async function launched(parameters: string): Promise<Row[]> {
  place.write('s.yaml', sweep(parameters));
  expect(await place.run('s.yaml', '--plain')).toMatchObject({ code: 0 });
  return JSON.parse((await place.run('ls', '--json')).out) as Row[];
}

const told = async (...words: string[]) => (await place.run(...words)).out;

describe('what only the program of a launched run declares', () => {
  it('is known, whoever has written it', async () => {
    const rows = await launched(`{ files: ${JSON.stringify(Object.keys(writers))} }`);
    expect(rows).toHaveLength(Object.keys(writers).length);
    for (const row of rows) expect(row).toMatchObject({ warning: null, ...writers[row.parameters.files] });
  });

  it('is a parameter that can be filtered and shown, and groups nothing; a planned one keeps its value', async () => {
    const files = ['metrics/wandb-defined', 'found/hparams/run00', 'found/hparams/run10'];
    const rows = await launched(`{ files: ${JSON.stringify(files)}, depth: 4 }`);
    expect(rows.map(({ warning }) => warning)).toEqual(['its program says depth 3 (planned: 4)', null, null]);
    expect(rows[0]!.parameters).toEqual({ files: files[0], depth: 4 });
    expect(rows[0]!.declared).not.toHaveProperty('depth');

    const names = (text: string) => rows.map(({ name }) => name).filter((name) => text.includes(name));
    const [wandb, high, low] = rows.map(({ name }) => name);
    expect(names(await told('ls', 'lr<0.1'))).toEqual([low]);
    expect(names(await told('ls', 'net.width=8'))).toEqual([wandb]);
    expect(names(await told('ls', 'name:nice-name', 'tag:late'))).toEqual([wandb]);
    expect(await told('ls', '--columns', 'lr', 'lr=0.1')).toMatch(/ lr [^]* 0\.1/);
    expect((await told('ls', '--sort', 'lr')).indexOf(low!)).toBeLessThan(
      (await told('ls', '--sort', 'lr')).indexOf(high!),
    );

    const exported = JSON.parse(await told('export', 's', '--format', 'json')) as Row[];
    expect(exported.map(({ parameters }) => parameters)).toMatchObject([
      { lr: 0.1 },
      { lr: 0.01 },
      { lr: 0.1, depth: 4 },
    ]);
    const report = JSON.parse(await told('report', 's', '--json')) as { sections: { rows: unknown[] }[] };
    expect(report.sections).toMatchObject([{ declared: expect.arrayContaining([['lr', [0.1, 0.01]]]) as unknown[] }]);
    expect(report.sections[0]!.rows).toHaveLength(files.length);
    expect(await told('report', 's', '--tests')).toMatch(/declared by its program: .*lr 0\.1 0\.01/);
  });
});

it('what a search of folders leaves out is said beside JSON, too', async () => {
  const deep = join('found', ...Array.from({ length: 18 }, () => 'a'));
  mkdirSync(place.at(deep), { recursive: true });
  place.write(join(deep, 'metrics.jsonl'), '{"step":1,"loss":2}\n');
  const { out, err } = await place.run('ls', 'found', '--json');
  expect([JSON.parse(out), err]).toEqual([[], expect.stringContaining('folders more than 16 deep are not searched')]);
});
