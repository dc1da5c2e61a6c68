/** The routes of the protocol: which operation answers which request. Names and answers are those of the official SDK's versions 0.18.2 to 0.38.0. */
import * as z from 'zod';
import { readForwardBackwardRequest, readModelPlace } from '../protocol/messages.js';
import type { Checkpoints } from './checkpoints.js';
import type { Downloads } from './downloads.js';
import type { Futures } from './futures.js';
import { Redirect, type Handler, type HttpRequest, type Routes } from './http-server.js';
import {
  allCheckpoints,
  checkpointsOf,
  foundSessions,
  page,
  sessionInfo,
  storageUsage,
  trainingRuns,
  weightsInfo,
} from './listings.js';
import type { ModelCatalogue } from './model-catalogue.js';
import { Refusal } from './refusal.js';
import {
  CopyWeights,
  CreateModel,
  CreateSamplingSession,
  CreateSession,
  LoadWeights,
  ModelId,
  ModelPlace,
  OptimStep,
  readJsonForwardBackward,
  RequestId,
  readSample,
  SaveExternal,
  SaveWeights,
  SearchSessions,
  SessionId,
  TimeToLive,
} from './requests.js';
import type { SamplingService } from './sampling-service.js';
import type { Sessions } from './sessions.js';
import type { TrainingService } from './training-service.js';

type Limits = {
  /** How long a request for a result waits before its client is told to try again, ms. */
  readonly longPollMs: number;
};

type ApiServices = {
  readonly training: TrainingService;
  readonly sampling: SamplingService;
  readonly futures: Futures;
  readonly catalogue: ModelCatalogue;
  readonly checkpoints: Checkpoints;
  readonly downloads: Downloads;
  readonly sessions: Sessions;
};

export function apiRoutes(parts: ApiServices, limits: Limits): Routes {
  return {
    ...sessionRoutes(parts),
    ...trainingRoutes(parts),
    ...samplingRoutes(parts, limits),
    ...listings(parts),
    ...savedWeights(parts),
    ...notHere,
    // The last route, because it takes every path.
    'POST **': unknownOperation(parts),
  };
}

function sessionRoutes({ training, catalogue }: ApiServices): Routes {
  const capabilities: Handler = () => ({
    supported_models: catalogue.names.map((name) => ({
      model_name: name,
      max_context_length: catalogue.shapeOf(name).context,
      trainable: true,
      sampleable: true,
    })),
  });
  return {
    'GET healthz': () => ({ status: 'ok' }),
    // Compressed bodies are refused, because Node 20 has no zstd.
    'POST client/config': () => ({ proto_compress_fwdbwd: false }),
    'POST client/dynamic_config': () => ({ sample_cancel_enabled: true }),
    'GET get_server_capabilities': capabilities,
    'POST get_server_capabilities': capabilities,
    'POST create_session': json(CreateSession, (body) => training.createSession(body)),
    'POST session_heartbeat': json(SessionId, ({ session_id: id }) => {
      training.heartbeat(id);
      return { type: 'session_heartbeat' };
    }),
    'POST sessions/*/finish': (_, [id = '']) => {
      training.finish(id);
      return {};
    },
    'POST telemetry': () => ({ status: 'accepted' }),
  };
}

function trainingRoutes({ training }: ApiServices): Routes {
  const learning = (forwardOnly: boolean) =>
    inOrder(
      training,
      (request) =>
        request.isProtobuf ? readProtobuf(request.body) : readJsonForwardBackward(parseBody(request), forwardOnly),
      (body, { body: bytes }) => training.forwardBackward(body, bytes.length),
    );
  const onModel = <T>(schema: z.ZodType<T>, answer: (body: T) => unknown) =>
    inOrder(training, (request) => schema.parse(parseBody(request)), answer);
  return {
    'POST create_model': json(CreateModel, (body) => training.createModel(body)),
    'POST get_info': json(ModelId, ({ model_id: id }) => training.info(id)),
    'POST forward_backward': learning(false),
    'POST forward': learning(true),
    'POST optim_step': onModel(OptimStep, (body) => training.optimStep(body)),
    'POST save_weights': onModel(SaveWeights, (body) => training.saveWeights(body)),
    'POST save_weights_for_sampler': onModel(SaveWeights, (body) => training.saveForSampler(body)),
    'POST save_weights_external': onModel(SaveExternal, (body) => training.saveExternal(body)),
    'POST load_weights': onModel(LoadWeights, (body) => training.loadWeights(body)),
    'POST unload_model': json(ModelId, ({ model_id: id }) => training.unload(id)),
  };
}

function samplingRoutes({ sampling, futures }: ApiServices, { longPollMs }: Limits): Routes {
  return {
    'POST create_sampling_session': json(CreateSamplingSession, (body) => sampling.createSamplingSession(body)),
    'GET samplers/*': (_, [id = '']) => sampling.samplerInfo(id),
    'POST asample': (request) => sampling.sample(readSample(parseBody(request), request.body)),
    'POST cancel_future': json(RequestId, ({ request_id: id }) => {
      futures.cancel(id);
      return {};
    }),
    'POST retrieve_future': json(RequestId, async ({ request_id: id }, { closed, wantsProtobuf }) => {
      const result = await futures.wait(id, longPollMs, closed);
      if (result === null) return { type: 'try_again', request_id: id, queue_state: 'active' };
      if (result.kind === 'failed') return { error: result.error, category: result.category };
      return wantsProtobuf && result.proto !== null ? result.proto() : result.json();
    }),
  };
}

function listings({ checkpoints, sessions }: ApiServices): Routes {
  return {
    'GET training_runs': ({ query }) => page('training_runs', trainingRuns(checkpoints), query),
    'GET training_runs/*': (_, [id = '']) => {
      const run = trainingRuns(checkpoints).find(({ training_run_id: known }) => known === id);
      if (run === undefined) throw new Refusal(404, `There is no training run ${id}.`);
      return run;
    },
    'GET training_runs/*/checkpoints': (_, [id = '']) => ({ checkpoints: checkpointsOf(checkpoints, id) }),
    'GET checkpoints': ({ query }) => page('checkpoints', allCheckpoints(checkpoints), query),
    'GET sessions': ({ query }) => page('sessions', sessions.all.map(({ id }) => id).toReversed(), query),
    'GET sessions/*': (_, [id = '']) => sessionInfo(sessions.session(id)),
    'POST sessions/search': json(SearchSessions, (search) => foundSessions(sessions.all, checkpoints, search)),
    'GET billing/usage/checkpoints/current': () => storageUsage(checkpoints),
  };
}

function savedWeights({ checkpoints, downloads, sessions }: ApiServices): Routes {
  const onWeights = (answer: (path: string, request: HttpRequest) => unknown): Handler => {
    return (request, [run = '', checkpoint = '']) => answer(`tinker://${run}/${checkpoint}`, request) ?? {};
  };
  const notPublic = onWeights((path) => {
    throw new Refusal(400, `The weights at ${path} cannot be published: they are on this machine alone.`);
  });
  return {
    'POST weights_info': json(z.object({ tinker_path: z.string() }), ({ tinker_path: path }) =>
      weightsInfo(checkpoints, path),
    ),
    'PUT training_runs/*/checkpoints/**/ttl': onWeights((path, request) =>
      checkpoints.keepFor(path, TimeToLive.parse(parseBody(request)).ttl_seconds),
    ),
    'POST copy_weights': json(CopyWeights, async ({ source_path: source, ttl_seconds: ttl }, { idempotencyKey }) => ({
      tinker_path: await checkpoints.copy(source, sessions.copyId(idempotencyKey), ttl ?? null),
    })),
    'GET training_runs/*/checkpoints/**/external_weights_urls': onWeights((path, { origin }) =>
      downloads.urls(path, origin),
    ),
    'GET training_runs/*/checkpoints/**/archive': onWeights(
      async (path, { origin }) => new Redirect(await downloads.archive(path, origin)),
    ),
    'GET files/**': (_, [place = '']) => downloads.file(place),
    'POST training_runs/*/checkpoints/**/publish': notPublic,
    'DELETE training_runs/*/checkpoints/**/publish': notPublic,
    'DELETE training_runs/*/checkpoints/**': onWeights((path) => checkpoints.remove(path)),
  };
}

/** Operations for multi-user services, with the alternative here. */
const notHere: Routes = Object.fromEntries(
  Object.entries({
    'GET audit':
      'There is no audit log here: requests.jsonl in the directory of the service has a line for each request.',
    'GET billing/usage/events': 'Nothing is billed here: the service runs on this machine.',
    'PUT sessions/*/project': 'There are no projects here: whatever is saved belongs to the directory of the service.',
    'GET sessions/*/trace_export':
      'There are no traces here: requests.jsonl in the directory of the service has the time that each request took.',
  }).map(([route, words]): [string, Handler] => [
    route,
    () => {
      throw new Refusal(400, words);
    },
  ]),
);

/** Operations of the SDK that the service lacks, with the alternative. */
const instead: Readonly<Record<string, string>> = {
  create_custom_loss: ' Use forward_backward_custom with a function: it runs in the client.',
};

/** An unknown operation on a model keeps its place in the model's order, so that later requests do not wait for it forever. */
function unknownOperation({ training }: ApiServices): Handler {
  return (request, [name = '']) => {
    const refusal = new Refusal(404, `There is no POST ${name.slice(0, 200)} here.${instead[name] ?? ''}`);
    const place = placeOf(request);
    if (place === null) throw refusal;
    return training.refuse(place, refusal);
  };
}

function json<T>(schema: z.ZodType<T>, answer: (body: T, request: HttpRequest) => unknown): Handler {
  return (request) => answer(schema.parse(parseBody(request)), request);
}

/** Answers requests on a model. One that cannot be read keeps its place in the model's order; its result says what is wrong. */
function inOrder<T>(
  training: TrainingService,
  read: (request: HttpRequest) => T,
  answer: (body: T, request: HttpRequest) => unknown,
): Handler {
  return (request) => {
    let body: T;
    try {
      body = read(request);
    } catch (error) {
      const place = placeOf(request);
      if (place === null) throw error;
      return training.refuse(place, error);
    }
    return answer(body, request);
  };
}

/** The place of a request in its model's order; null when it has no number, or is too damaged to be read. */
function placeOf(request: HttpRequest): z.infer<typeof ModelPlace> | null {
  try {
    if (!request.isProtobuf) return ModelPlace.parse(parseBody(request));
    const { modelId, seqId } = readModelPlace(request.body);
    return ModelPlace.parse({ model_id: modelId, seq_id: seqId });
  } catch {
    return null;
  }
}

function parseBody({ body }: HttpRequest): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new Refusal(400, 'The body is not JSON.');
  }
}

function readProtobuf(body: Uint8Array) {
  try {
    return readForwardBackwardRequest(body);
  } catch (error) {
    throw new Refusal(400, `The body cannot be read: ${(error as Error).message}`);
  }
}
