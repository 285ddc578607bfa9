import { createAnswerBatch } from './connection/answer-batch.ts';
import type { Timeouts } from './connection/bounds.ts';
import { createHttpService, type HttpService } from './connection/http-service.ts';
import { createInFlight } from './connection/in-flight.ts';
import { answerMalformed, type MalformedOptions } from './connection/malformed-requests.ts';
import { createHeadWriter } from './connection/response-head.ts';
import { createPipeline, type PipelineOptions } from './pipeline.ts';
import { createSend } from './response/send.ts';
import { listMethods, type Route } from './route.ts';
import { createRouter } from './router.ts';

/** The parts in which the public server and the operator's server differ. */
export interface ServiceParts extends Omit<PipelineOptions, 'router' | 'send' | 'inFlight'> {
  readonly routes: readonly Route[];
  readonly makeMalformedAnswer: MalformedOptions['makeAnswer'];
  readonly timeouts: Timeouts;
  readonly connectionsMax?: number;
  readonly onArrival?: () => void;
  readonly onClosing?: () => void;
}

/** Builds a service from routes. Call `listen` to start it. */
export function wireService(parts: ServiceParts): HttpService {
  const { routes, makeMalformedAnswer, timeouts } = parts;
  const inFlight = createInFlight();
  const batch = createAnswerBatch();
  const send = createSend(createHeadWriter(timeouts.keepAliveMs), batch);
  const handle = createPipeline({ ...parts, router: createRouter(routes), send, inFlight });
  const service = createHttpService({ ...parts, handle, inFlight, batch });
  const methods = listMethods(routes);
  answerMalformed(service.server, { inFlight, batch, methods, makeAnswer: makeMalformedAnswer });
  return service;
}
