import type { RequestListener } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Registry } from 'prom-client';
import type { KeyVerifier } from '../accounts/key-verifier.ts';
import type { Clock } from '../clock.ts';
import type { TrustProxy } from '../config.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Log } from '../observability/log.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import { createAdmission } from './admission.ts';
import { createArrival, type Done } from './arrival.ts';
import { closeGently } from './closing.ts';
import { createConnections } from './connections.ts';
import { createCors } from './cors.ts';
import type { Cursors } from './cursor.ts';
import { serveDocs } from './docs-page.ts';
import { endAfterUpgrade } from './end-upgrade.ts';
import { createErrorHandler, sendError } from './error-handler.ts';
import { createFastLane } from './fast-lane.ts';
import { createHttpServer, defaultTimeouts, headerBytesMax, type Timeouts } from './http-server.ts';
import { inTurn } from './in-turn.ts';
import { acceptJson } from './json-body.ts';
import { describeApi } from './openapi.ts';
import { createOutbox } from './outbox.ts';
import { createPageAnswers } from './page-answers.ts';
import { createPetAnswers } from './pet-answers.ts';
import { petsRoutes } from './pets-routes.ts';
import { createReadyAnswers } from './ready-answers.ts';
import { countReadyAnswers } from './ready-metrics.ts';
import { createRequestIds } from './request-id.ts';
import { createRequestLog } from './request-log.ts';
import { countRequests } from './request-metrics.ts';
import { refuseUnroutable } from './routing-errors.ts';
import { countTurnedAway, logTurnedAway } from './turned-away.ts';
import { createTurns } from './turns.ts';
import { createUnreadableHandler } from './unreadable.ts';

export interface ServerOptions {
  readonly catalogue: Catalogue;
  readonly verifier: KeyVerifier;
  readonly limiter: Limiter;
  readonly cursors: Cursors;
  readonly clock: Clock;
  readonly log: Log;
  /** Where the requests are shown; nowhere without one. */
  readonly registry?: Registry;
  readonly publicUrl: string | null;
  readonly trustProxy: TrustProxy;
  readonly corsOrigins: readonly string[];
  readonly logRequests: 'errors' | 'all';
  readonly timeouts?: Timeouts;
}

/** Builds the public surface (`/v1`, `/openapi.json`, `/docs`); it does not listen. */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const parts = createParts(options);
  const server = createFramework(options, parts);
  addHooks(server, options, parts);
  await addRoutes(server, options, parts);
  await server.ready();
  return server;
}

type Parts = ReturnType<typeof createParts>;

/** What meets a request before it comes to its route. */
function createParts({ catalogue, cursors, verifier, limiter, clock, log, ...options }: ServerOptions) {
  const { registry = new Registry(), corsOrigins, timeouts = defaultTimeouts } = options;
  const createRequestId = createRequestIds();
  const requestLog = countRequests(createRequestLog(log, options.logRequests), registry);
  const turns = createTurns();
  const outbox = createOutbox();
  const unreadable = createUnreadableHandler({ limiter, turns, outbox, createRequestId, log: requestLog });
  const kept = createReadyAnswers(catalogue.stamps.read, clock);
  const ready = countReadyAnswers(kept, registry);
  const baseUrl = options.publicUrl ?? '/v1';
  const pageAnswers = createPageAnswers({ catalogue, cursors, ready, baseUrl });
  const petAnswers = createPetAnswers({ catalogue, ready, clock, baseUrl });
  const admission = createAdmission(verifier, limiter);
  const lane = createFastLane({
    admission,
    catalogue,
    ready,
    pageAnswers,
    petAnswers,
    turns,
    outbox,
    createRequestId,
    requestLog,
    keepAliveMs: timeouts.keepAliveMs,
    baseUrl,
  });
  const arrive = createArrival(verifier, limiter, admission);
  const allowOrigin = createCors(corsOrigins, limiter);

  function receive(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    turns.begin(request.raw.socket, { response: reply.raw, reply });
    request.brokenBy = unreadable.findFailure(reply.raw);
    if (!allowOrigin(request, reply)) arrive(request, reply, done);
  }

  return {
    registry,
    createRequestId,
    requestLog,
    unreadable,
    turns,
    outbox,
    ready,
    pageAnswers,
    petAnswers,
    lane,
    baseUrl,
    receive,
  };
}

function createFramework(options: ServerOptions, parts: Parts): FastifyInstance {
  const { registry, requestLog, unreadable, turns, outbox, lane, receive } = parts;
  // Where each request is logged, its page's origin may matter, or clients are to let go, all go the long way.
  let isLaneOpen = options.logRequests === 'errors' && options.corsOrigins.length === 0;

  const connections = createConnections();

  const server: FastifyInstance = Fastify({
    serverFactory: (handler) => {
      const longWay: RequestListener = (request, response) => {
        outbox.flush();
        handler(request, response);
      };
      const listener: RequestListener = (request, response) => {
        if (isLaneOpen && request.httpVersionMajor === 1) lane(request, response, longWay);
        else longWay(request, response);
      };
      const queued = inTurn(listener, { turns, outbox, connections });
      const receiveFirst: RequestListener = (request, response) => {
        options.catalogue.stamps.openTurn();
        queued(request, response);
      };
      return createHttpServer(receiveFirst, options.timeouts ?? defaultTimeouts, connections);
    },
    genReqId: parts.createRequestId,
    trustProxy: toTrust(options.trustProxy),
    routerOptions: { maxParamLength: headerBytesMax },
    return503OnClosing: false,
    clientErrorHandler: unreadable.onError,
    frameworkErrors: (error, request, reply) => {
      // Such a request comes without what decorates all others.
      Object.assign(request, { caller: null, brokenBy: null, earlyMs: 0 });
      reply.raw.once('finish', () => requestLog.note(request, reply));
      receive(request, reply, (refusal) => sendError(options.log, refusal ?? error, request, reply));
    },
  });
  server.server.on('connect', unreadable.onConnect);
  // Node then ends this side, too: what it asked for is to be sent before.
  server.server.on('connection', (socket) => socket.prependListener('end', outbox.flush));
  endAfterUpgrade(server.server);
  logTurnedAway(server.server, options.clock, options.log);
  countTurnedAway(server.server, registry);
  server.addHook('preClose', async () => {
    isLaneOpen = false;
  });
  closeGently(server, connections);
  return server;
}

function addHooks(server: FastifyInstance, { log }: ServerOptions, parts: Parts): void {
  const { requestLog, turns, receive } = parts;
  server.decorateRequest('caller', null);
  server.decorateRequest('brokenBy', null);
  server.decorateRequest('earlyMs', 0);
  server.setErrorHandler(createErrorHandler(log));
  server.addHook('onRequest', receive);
  server.addHook('onResponse', (request, reply, done) => {
    requestLog.note(request, reply);
    if (request.raw.complete) turns.end(request.raw.socket, reply.raw);
    done();
  });
  refuseUnroutable(server);
  acceptJson(server);
}

async function addRoutes(
  server: FastifyInstance,
  options: ServerOptions,
  { ready, pageAnswers, petAnswers, baseUrl }: Parts,
): Promise<void> {
  const { catalogue, clock, publicUrl } = options;
  await describeApi(server, publicUrl);
  serveDocs(server, publicUrl);
  const own = { catalogue, clock, ready, pageAnswers, petAnswers, baseUrl };
  await server.register(petsRoutes, { prefix: '/v1', ...own });
}

/** As Fastify takes it: whether the peer so many hops away is a proxy of ours. */
function toTrust(trust: TrustProxy) {
  if (typeof trust === 'number') return (_address: string, hop: number) => hop < trust;
  return trust === false ? false : [...trust];
}
