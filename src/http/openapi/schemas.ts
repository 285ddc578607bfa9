import { int64Max, int64Min } from '../../int64.ts';
import type { SchemaName } from '../../schema.ts';

type Texts = 'format' | 'description' | 'pattern' | 'rule' | 'x-stability';
type Bounds = 'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems';

/** The parts of a JSON Schema that the description and the reference show. */
export interface Schema
  extends Partial<SchemaName & Readonly<Record<Texts, string> & Record<Bounds, number>>> {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly items?: Schema;
  /** In a query: the parameter may be given several times, each with some of the values. Not part of OpenAPI. */
  readonly repeats?: true;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  /** An enumeration of `openEnum`. Not part of OpenAPI. */
  readonly isOpen?: true;
}

/** A value that a later release may add to an open enumeration. */
const laterValue = { type: 'string', minLength: 1, maxLength: 100, pattern: '^[!-~]+$' };

/** The named schemas to which a description refers, by name. A name without a schema has no reference yet. */
export type SharedSchemas = Map<string, object | null>;

/** The schemas of the first releases. They keep their order, so that generated code does not move. */
const firstNames = `
  Pet NewPet PetPatch PetStatus Order NewOrder OrderStatus Category NewCategory
  PetEvent CategoryEvent OrderEvent OtherEvent StoreEvent PingEvent PetPrevious CategoryPrevious
  Account LimitWindow CallingKey ApiKey IssuedApiKey NewApiKey ApiKeyRotation ApiKeyState Scope PlanName
  WebhookWithSecret Webhook NewWebhook WebhookPatch LastAttempt WebhookAttempt EventToSend EventType WebhookMessage Ping
  Inventory Error`;

/** Returns the schemas of a description that refers to none yet. Later schemas follow in the order of their references. */
export function createSharedSchemas(): SharedSchemas {
  return new Map(Array.from(firstNames.matchAll(/\w+/g), ([name]) => [name, null]));
}

/** Replaces the named schemas in `node` by references, which `shared` collects. An int64 gets exact bounds. */
export function shareSchemas(node: unknown, shared: SharedSchemas): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node))
    return node.flatMap((one) => (isOpenEnum(one) ? listVariants(one, shared) : [shareSchemas(one, shared)]));
  if (isOpenEnum(node)) return { anyOf: listVariants(node, shared), description: node.description };
  const { title, about, ...members } = node as Schema;
  // In `properties`, the title is the schema of a field.
  if (typeof title !== 'string') return describeMembers(node, shared);
  if (!shared.get(title)) {
    // Its place comes before those of the schemas inside it.
    shared.set(title, null);
    shared.set(title, { ...describeMembers(members, shared), description: about });
  }
  return { $ref: referTo(title) };
}

function referTo(name: string): string {
  return `#/components/schemas/${name}`;
}

function isOpenEnum(node: unknown): node is Schema {
  return typeof node === 'object' && node !== null && 'isOpen' in node && node.isOpen === true;
}

/** Returns the variants of an open enumeration: its known values, every other value, and null if it allows null. */
function listVariants({ isOpen, description, enum: choices = [], ...own }: Schema, shared: SharedSchemas) {
  const known = { ...own, type: 'string', enum: choices.filter((choice) => choice !== null) };
  return [shareSchemas(known, shared), laterValue, ...(choices.includes(null) ? [{ type: 'null' }] : [])];
}

function describeMembers(node: Schema, shared: SharedSchemas): object {
  const { type, format, minimum } = node;
  const members = Object.fromEntries(
    Object.entries(node)
      // `rule` is a text for error messages and not part of OpenAPI.
      .filter(([key, member]) => key !== 'rule' || typeof member !== 'string')
      .map(([key, member]) => [key, shareSchemas(member, shared)]),
  );
  if (format === 'int64' && minimum === undefined)
    return { ...members, minimum: int64Min, maximum: int64Max };
  return type === 'integer' && format === undefined ? { ...members, format: 'int32' } : members;
}
