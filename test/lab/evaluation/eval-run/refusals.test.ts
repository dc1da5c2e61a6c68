import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSafetensors } from '../../../../src/lab/engine/safetensors.js';
import { saveCheckpoint } from '../../../../src/lab/run/checkpoint.js';
import { openRunDirectory } from '../../../../src/lab/run/run-directory.js';
import { removeFolder } from '../../../remove-folder.js';
import { microEngine } from '../../micro-engine.js';
import { EngineService } from '../../../../src/lab/service/engine-service.js';
import { tempDirectory } from '../../temp-directory.js';
import { copyOfRun, evaluated, stageIn } from './stage.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-eval-run-'));
afterAll(() => removeFolder(root));
let at: (name: string) => string;
beforeAll(async () => {
  at = await stageIn(root);
}, 60_000);

const copyOf = (name: string): string => copyOfRun(at(name));

describe('memrl eval-run', () => {
  it.each<{ what: string; path: () => string | Promise<string>; argv?: string[]; message: RegExp }>([
    { what: 'nothing', path: () => '/nowhere', message: /no checkpoint in \/nowhere/ },
    {
      ...{ what: 'adapters without their config', message: /has adapters\.safetensors and no adapters\.json/ },
      path: () => {
        const run = copyOf('routed');
        rmSync(join(run, 'checkpoints/final/adapters.json'));
        return run;
      },
    },
    {
      ...{ what: "another system's adapters", message: /cannot be read/ },
      path: () => {
        const model = copyOf('model');
        const name = 'model.layers.0.self_attn.q_proj.lora_A_good';
        const tensors = new Map([[name, { shape: [1, 8], values: new Float32Array(8) }]]);
        writeFileSync(join(model, 'model.safetensors'), writeSafetensors({ tensors, metadata: {} }));
        return model;
      },
    },
    {
      ...{ what: 'an adapter of PEFT alone', message: /without the model that it is on/ },
      path: () => {
        const directory = tempDirectory();
        writeFileSync(join(directory, 'adapter_config.json'), '{}');
        return directory;
      },
    },
    {
      ...{ what: 'an adapter of PEFT in a model', message: /only one of them would be measured/ },
      path: () => {
        const model = copyOf('model');
        writeFileSync(join(model, 'adapter_config.json'), '{}');
        return model;
      },
    },
    {
      ...{ what: 'a run of the memory games', message: /is a checkpoint of the memory games/ },
      path: async () => {
        const run = join(tempDirectory(), 'game');
        await saveCheckpoint(
          openRunDirectory(run),
          { name: 'final', batch: 1, state: {} },
          new EngineService(await microEngine()),
          null,
        );
        return run;
      },
    },
    {
      ...{ what: 'a model without a tokenizer', message: /no tokenizer\.json/ },
      path: () => {
        const model = copyOf('model');
        rmSync(join(model, 'tokenizer.json'));
        return model;
      },
    },
    {
      ...{
        what: 'a run whose settings cannot be read',
        message: /config\.json does not describe the run, at `experiment/,
      },
      path: () => {
        const run = copyOf('whole');
        writeFileSync(join(run, 'config.json'), JSON.stringify({ model: 'x', experiment: { source: 'x' } }));
        return run;
      },
    },
    {
      what: 'an unknown reward',
      path: () => at('whole'),
      argv: ['eval_rewards=hapy_binary'],
      message: /no reward `hapy_binary`/,
    },
    { what: 'more tokens than fit', path: () => at('model'), message: /do not fit the model's context, 64/ },
    {
      ...{ what: 'more prompts than there are', path: () => at('whole'), message: /begin in only 2 different ways/ },
      argv: ['data=STORIES'],
    },
    {
      what: 'a file of data that is none',
      path: () => at('whole'),
      argv: ['data=package.json'],
      message: /its name ends neither/,
    },
  ])('refuses $what', async ({ path, argv = [], message }) => {
    const stories = tempDirectory();
    writeFileSync(join(stories, 'test.txt'), 'a cat sat down\na dog ran away\n');
    const told = argv.map((argument) => argument.replace('STORIES', stories));
    await expect(evaluated(await path(), told)).rejects.toThrow(message);
  });

  it('refuses a reward with the name of a component that has another reward', async () => {
    const file = join(tempDirectory(), 'named.yaml');
    writeFileSync(
      file,
      'reward:\n  components:\n    - {name: happy_count, id: happy_binary, role: retain}\nrh_detector: null\n',
    );
    const argv = [`config=${file}`, 'eval_rewards=happy_binary'];
    await expect(evaluated(at('whole'), argv)).rejects.toThrow('their columns would be one');
  });
});
