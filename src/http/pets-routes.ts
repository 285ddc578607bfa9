import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '../accounts/account.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { parseCanonicalInt64 } from '../int64.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import { findViolations, type NewPet } from '../pets/pet.ts';
import type { Soon } from '../soon.ts';
import type { Done } from './arrival.ts';
import { sendAnswer } from './conditional.ts';
import { announceDeprecation, deprecationHeaders, getPetDates } from './deprecation.ts';
import { addedHeaders, readIdempotency, writePet } from './new-pet.ts';
import type { PageAnswers } from './page-answers.ts';
import { type PetAnswers, petNotFound } from './pet-answers.ts';
import { compileQuery } from './query.ts';
import { type ReadyAnswer, readAnswer } from './ready-answers.ts';
import type { CountedReadyAnswers } from './ready-metrics.ts';
import {
  EmptyQuerySchema,
  type ListQuery,
  ListQuerySchema,
  NewPetSchema,
  PetListSchema,
  PetParamsSchema,
  PetSchema,
} from './schemas.ts';
import { refuseUnknown } from './strict.ts';
import { type Check, validateWith } from './validation.ts';

export interface PetsRoutesOptions {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly ready: CountedReadyAnswers;
  readonly pageAnswers: PageAnswers;
  readonly petAnswers: PetAnswers;
  /** What the links of responses begin with: the public base address, or `/v1`. */
  readonly baseUrl: string;
}

/** The three operations of interface section 4. To be registered under `/v1`. */
export async function petsRoutes(server: FastifyInstance, options: PetsRoutesOptions): Promise<void> {
  server.addHook('preValidation', refuseUnknown);
  addListPets(server, options);
  addCreatePet(server, options);
  addGetPet(server, options);
}

/** Interface section 4.1, contract section 3. */
function addListPets(server: FastifyInstance, { ready, pageAnswers }: PetsRoutesOptions): void {
  server.get<{ Querystring: ListQuery }>(
    '/pets',
    {
      schema: { operationId: 'listPets', querystring: ListQuerySchema, response: { 200: PetListSchema } },
      validatorCompiler: validateWith({ querystring: compileQuery(ListQuerySchema) }),
      onRequest: requireScope('pets:read'),
    },
    (request, reply) => sendRead(ready, request, reply, () => pageAnswers.make(request.url, request.query)),
  );
}

/** Interface section 4.2, contract section 2. */
function addCreatePet(server: FastifyInstance, { catalogue, baseUrl }: PetsRoutesOptions): void {
  server.post<{ Body: NewPet; Querystring: object }>(
    '/pets',
    {
      schema: {
        operationId: 'createPet',
        querystring: EmptyQuerySchema,
        body: NewPetSchema,
        response: { 201: PetSchema },
      },
      validatorCompiler: validateWith({ body: checkNewPet }),
      onRequest: requireScope('pets:write'),
    },
    async (request, reply) => {
      const { headers, caller, bodyBytes } = request;
      const idempotency = caller && bodyBytes && readIdempotency(headers, caller, bodyBytes);
      const added = await catalogue.add(request.body, idempotency);
      reply.code(201).headers(addedHeaders(added, baseUrl));
      return reply.send(writePet(added.pet));
    },
  );
}

/** Interface section 4.3, contract section 4. */
function addGetPet(server: FastifyInstance, { clock, ready, petAnswers, baseUrl }: PetsRoutesOptions): void {
  const deprecation = { ...getPetDates, successor: `${baseUrl}/pets` };

  server.get<{ Params: { petId: string } }>(
    '/pets/:petId',
    {
      schema: {
        operationId: 'getPet',
        deprecated: true,
        params: PetParamsSchema,
        querystring: EmptyQuerySchema,
        response: { 200: PetSchema },
      },
      // Whatever names no animal is 404, not 400, so the path is checked where the animal is looked for.
      validatorCompiler: validateWith({}),
      config: { refusalHeaders: deprecationHeaders(deprecation) },
      onRequest: [announceDeprecation(deprecation, clock), requireScope('pets:read')],
    },
    (request, reply) =>
      sendRead(ready, request, reply, () => {
        const id = parseCanonicalInt64(request.params.petId);
        if (id === null) throw petNotFound();
        return petAnswers.make(request.url, id);
      }),
  );
}

/** Sends the answer to a read that is kept ready, or has it made. */
async function sendRead(
  ready: CountedReadyAnswers,
  request: FastifyRequest,
  reply: FastifyReply,
  make: () => Soon<ReadyAnswer>,
): Promise<FastifyReply> {
  const kept = ready.find(request.url);
  if (kept !== null) ready.noteSent();
  return sendAnswer(request, reply, readAnswer(kept ?? (await make())));
}

function requireScope(scope: Scope) {
  return (request: FastifyRequest, _reply: FastifyReply, done: Done): void => {
    const isGranted = request.caller?.scopes.includes(scope) === true;
    done(isGranted ? undefined : new AppError('scope_missing', `this API key lacks the scope ${scope}`));
  };
}

/** Checks a body by the rules of an animal, and names every field that breaks one. */
const checkNewPet: Check = (body) => {
  const violations = findViolations(body);
  if (violations.length === 0) return true;
  const problems = violations.map(({ field, rule }) => `${field ?? 'the body'} ${rule}`);
  return { error: new AppError('invalid_body', problems.join('; ')) };
};
