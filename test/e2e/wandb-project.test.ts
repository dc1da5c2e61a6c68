import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const place = workplace();

const files = {
  'a sweep file': "name: s\ncommand: [sh, -c, 'echo $WANDB_PROJECT >> projects']\nparameters: { seed: [0, 1] }\n",
  'a file of W&B, which names another': `name: s
method: grid
project: of-the-file
command: [sh, -c, 'echo $WANDB_PROJECT >> projects']
parameters: { seed: { values: [0, 1] } }
`,
};

describe('--wandb-project', () => {
  it.each(Object.entries(files))('is the WANDB_PROJECT of the runs of %s, and is said in the plan', async (_, text) => {
    place.write('s.yaml', text);
    const plan = await place.run('s.yaml', '--wandb-project', 'mine', '--dry-run');
    const words = plan.out.replace(/\s+/g, ' ');
    expect(words).toContain('The runs have WANDB_PROJECT=mine. wandb and trackio write to the directory of each run');
    expect(words).toContain("WANDB_PROJECT=mine sh -c 'echo $WANDB_PROJECT");
    expect((await place.run('s.yaml', '--wandb-project', 'mine', '--plain')).code).toBe(0);
    expect(place.read('projects')).toBe('mine\nmine\n');
    const again = (await place.run('s.yaml', '--dry-run')).out.replace(/\s+/g, ' ');
    expect(again).toContain('s was launched with --wandb-project mine last, and now is without.');
    // Where results go is not what a run is.
    expect(again).not.toContain('changed since');
  });

  it('is refused when it is empty', async () => {
    place.write('s.yaml', files['a sweep file']);
    const { code, err } = await place.run('s.yaml', '--wandb-project', '', '--dry-run');
    expect([code, err]).toEqual([2, expect.stringContaining('--wandb-project is empty')]);
  });
});
