import Fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { secondMs } from '../clock.ts';
import type { Log } from '../observability/log.ts';
import { createErrorHandler } from './error-handler.ts';
import { countCheckMs, defaultTimeouts, type Timeouts } from './http-server.ts';
import { refuseUnroutable } from './routing-errors.ts';

/** One thing that must hold for the service to be sent requests. */
export interface ReadinessCheck {
  /** What is checked, as the reason names it: "the store". */
  readonly name: string;
  /** Null while it holds, else what is wrong, in a few words. What it throws or never answers is wrong, too. */
  findProblem(): Promise<string | null>;
}

export interface OpsServerOptions {
  readonly checks: readonly ReadinessCheck[];
  /** What an operator should know although it does not keep the service from answering, a few words each. */
  readonly listNotes?: () => readonly string[];
  readonly registry: Registry;
  readonly log: Log;
  /** How long a check may take before it counts as failed. */
  readonly checkMsMax?: number;
  readonly timeouts?: Omit<Timeouts, 'untakenMs'>;
}

/**
 * Builds the operator's surface; it does not listen. `/healthz` tells that the process answers, `/readyz` whether it
 * should be sent requests, `/metrics` what it has done. It needs no key, so its port must not be open to clients; who
 * comes there may take as long as on the public one.
 */
export async function buildOpsServer({
  checks,
  listNotes = () => [],
  registry,
  log,
  checkMsMax = secondMs,
  timeouts = defaultTimeouts,
}: OpsServerOptions): Promise<FastifyInstance> {
  const { headersMs, requestMs, keepAliveMs } = timeouts;
  const server: FastifyInstance = Fastify({
    forceCloseConnections: true,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: countCheckMs(timeouts) },
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
  });
  server.setErrorHandler(createErrorHandler(log));
  refuseUnroutable(server);

  server.get('/healthz', async () => ({ status: 'ok' }));

  server.get('/readyz', async (_request, reply) => {
    const found = await Promise.all(checks.map((check) => findProblem(check, checkMsMax)));
    const problems = found.filter((problem) => problem !== null);
    const notes = listNotes();
    const noted = notes.length === 0 ? {} : { notes };
    if (problems.length === 0) return { status: 'ready', ...noted };
    return reply.code(503).send({ status: 'not ready', reason: problems.join('; '), ...noted });
  });

  server.get('/metrics', async (_request, reply) => {
    return reply.header('content-type', registry.contentType).send(await registry.metrics());
  });

  await server.ready();
  return server;
}

async function findProblem(
  { name, findProblem }: ReadinessCheck,
  checkMsMax: number,
): Promise<string | null> {
  const { promise: timedOut, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(`does not answer within ${checkMsMax} ms`), checkMsMax);
  try {
    const problem = await Promise.race([findProblem(), timedOut]);
    return problem === null ? null : `${name} ${problem}`;
  } catch {
    return `${name} does not answer`;
  } finally {
    clearTimeout(timer);
  }
}
