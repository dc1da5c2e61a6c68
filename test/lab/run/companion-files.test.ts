import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadModel } from '../../../src/lab/hugging-face/directory.js';
import { loadTokenizer } from '../../../src/lab/hugging-face/tokenizer.js';
import { describeModel, exportModel, memoryVocabularyFiles } from '../../../src/lab/hugging-face/export-model.js';
import { lastCheckpoint, saveCheckpoint } from '../../../src/lab/run/checkpoint.js';
import { restoreModel } from '../../../src/lab/run/model-files.js';
import { writeCompanions } from '../../../src/lab/run/companion-files.js';
import { findModel, readModel } from '../../../src/lab/run/model-files.js';
import { openRunDirectory, type RunDirectory } from '../../../src/lab/run/run-directory.js';
import { fixtures } from '../hugging-face/fixtures.js';
import { microEngine } from '../micro-engine.js';
import { trainIn } from '../algorithms/run-in-test.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { tempDirectory } from '../temp-directory.js';

const wordPiece = new Map([
  ['tokenizer.json', readFileSync(join(fixtures, 'tokenizers/word-piece/tokenizer.json'), 'utf8')],
  ['tokenizer_config.json', '{"eos_token":"[EOS]"}'],
]);

/** A run with one checkpoint of a model that took a step, and its companions. */
async function savedRun(tokenizerFiles: ReadonlyMap<string, string>, vocabulary?: number): Promise<RunDirectory> {
  const directory = openRunDirectory(tempDirectory());
  const engine = await microEngine(1, vocabulary);
  await engine.forward([{ prompt: Int32Array.of(0), continuations: [Int32Array.of(1, 2)] }]);
  await engine.backward(Float32Array.of(-1, -1), null);
  await engine.adam({ learningRate: 0.1, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 });
  const companions = { shape: engine.shape, files: tokenizerFiles };
  await saveCheckpoint(
    directory,
    { name: 'final', batch: 1, state: null, companions },
    new EngineService(engine),
    null,
  );
  return directory;
}

describe('a checkpoint with the files of Hugging Face', () => {
  it('remains one of memrl, with its optimizer', async () => {
    const directory = await savedRun(memoryVocabularyFiles());
    const found = lastCheckpoint(directory, (line) => expect.unreachable(line))!;
    const { optimizer, weights } = readModel(found.path);
    expect(optimizer!.step).toBe(1);
    const other = await microEngine(2);
    await restoreModel(found.path, other);
    expect(await other.weights()).toEqual(weights);
    expect(await other.optimizerState()).toEqual(optimizer);
  });

  it('is a Hugging Face model to other programs, which ignore the moments of Adam', async () => {
    const directory = await savedRun(memoryVocabularyFiles());
    const path = findModel(directory.path);
    const { shape, weights } = readModel(path);
    const config = JSON.parse(readFileSync(join(path, 'config.json'), 'utf8')) as object;
    expect(config).toMatchObject({ model_type: 'llama', bos_token_id: 0, eos_token_id: 1, hidden_size: shape.width });
    const generation = JSON.parse(readFileSync(join(path, 'generation_config.json'), 'utf8')) as object;
    expect(generation).toEqual({ bos_token_id: 0, eos_token_id: 1, pad_token_id: 1 });
    // As transformers does it: by config.json, and by the names in model.safetensors.
    const target = join(tempDirectory(), 'exported');
    await exportModel(path, target);
    expect(loadModel(target)).toEqual({ config: { shape, beginning: 0, endings: [1] }, weights });
  });

  it('names its tokenizer, and exports it', async () => {
    const { path } = await savedRun(wordPiece, 400);
    expect(describeModel(path).text).toMatch(
      /tokenizer +WordPiece, 170 of the model's 400 tokens, "\[EOS\]" \(1\) ends/,
    );
    expect(describeModel(path).text).toMatch(/memory games +not for them: its vocabulary is another/);
    const target = join(tempDirectory(), 'exported');
    await exportModel(path, target);
    expect(loadModel(target).config).toMatchObject({ beginning: null, endings: [1] });
    expect(loadTokenizer(target)!.encode('the girl')).toEqual(loadTokenizer(findModel(path))!.encode('the girl'));
  });

  it('is refused by recipes that need another vocabulary', async () => {
    const { path } = await savedRun(wordPiece, 400);
    await expect(trainIn(tempDirectory(), [`load_checkpoint_path=${path}`])).rejects.toThrow(
      /needs the memory vocabulary, and the model in .* has another \(WordPiece, 170 tokens\)/,
    );
  });

  it('is refused without memrl’s own description, rather than loaded without its optimizer', async () => {
    const directory = await savedRun(memoryVocabularyFiles());
    rmSync(join(findModel(directory.path), 'model.json'));
    const lines: string[] = [];
    expect(lastCheckpoint(directory, (line) => lines.push(line))).toBeNull();
    expect(lines).toEqual([expect.stringMatching(/final has no model\.json\. This checkpoint is damaged/)]);
  });

  it('is refused when its tokenizer is damaged', async () => {
    const path = findModel((await savedRun(wordPiece, 400)).path);
    writeFileSync(join(path, 'tokenizer.json'), '{');
    expect(describeModel(path)).toMatchObject({
      opens: false,
      text: expect.stringMatching(/it is not JSON/) as string,
    });
    cpSync(join(fixtures, 'tokenizers/llama-3/tokenizer.json'), join(path, 'tokenizer.json'));
    expect(describeModel(path).opens).toBe(false);
  });
});

it.each([
  { what: 'no tokenizer', files: new Map<string, string>(), says: /cannot be saved with no tokenizer\.json/ },
  {
    what: 'more tokens than it knows',
    files: wordPiece,
    says: /knows 32 tokens cannot be saved with a tokenizer of 170/,
  },
])('a model is not saved with $what', async ({ files: tokenizerFiles, says }) => {
  const { shape } = await microEngine();
  expect(() => writeCompanions(tempDirectory(), { shape, files: tokenizerFiles })).toThrow(says);
});
