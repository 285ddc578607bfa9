import type { TSchema } from 'typebox';
import {
  AccountSchema,
  CallingKeySchema,
  IssuedKeySchema,
  KeyRotationSchema,
  KeySchema,
  KeyStateSchema,
  NewKeySchema,
  PlanNameSchema,
  ScopeSchema,
  WindowSchema,
} from '../../accounts/schemas.ts';
import { CategorySchema, NewCategorySchema } from '../../categories/category.ts';
import {
  CategoryEventSchema,
  CategoryPreviousSchema,
  EventSchema,
  OrderEventSchema,
  PetEventSchema,
  PetPreviousSchema,
} from '../../events/event.ts';
import { stringifyExactJson } from '../../exact-json.ts';
import { int64Max, int64Min } from '../../int64.ts';
import { NewOrderSchema, OrderSchema, OrderStatusSchema } from '../../orders/order.ts';
import { NewPetSchema, PetPatchSchema, PetSchema, PetStatusSchema } from '../../pets/pet.ts';
import {
  AttemptSchema,
  EventTypeSchema,
  LastAttemptSchema,
  NewWebhookSchema,
  SendSchema,
  WebhookPatchSchema,
  WebhookSchema,
  WebhookWithSecretSchema,
} from '../../webhooks/webhook.ts';
import { InventorySchema } from '../api/store.ts';
import { PingEventSchema, PingSchema, WebhookMessageSchema } from '../api/webhook-messages.ts';
import { ErrorSchema } from './failures.ts';

/** The named schemas of the description. */
const shared: readonly (readonly [name: string, schema: TSchema, description: string])[] = [
  ['Pet', PetSchema, 'An animal.'],
  ['NewPet', NewPetSchema, 'A new animal.'],
  ['PetPatch', PetPatchSchema, 'A change of an animal. Absent fields stay as they are.'],
  ['PetStatus', PetStatusSchema, 'Availability of an animal.'],
  ['Order', OrderSchema, 'A reservation of an animal and its outcome.'],
  ['NewOrder', NewOrderSchema, 'A new order.'],
  ['OrderStatus', OrderStatusSchema, 'The status of an order.'],
  ['Category', CategorySchema, 'A name for a number that animals have as `categoryId`.'],
  ['NewCategory', NewCategorySchema, 'The name of a category.'],
  ['PetEvent', PetEventSchema, 'What happened to an animal.'],
  ['CategoryEvent', CategoryEventSchema, 'What happened to a category.'],
  ['OrderEvent', OrderEventSchema, 'What happened to an order.'],
  ['StoreEvent', EventSchema, 'A change of the store. Later releases may add types.'],
  ['PingEvent', PingEventSchema, 'A test message to a webhook.'],
  ['PetPrevious', PetPreviousSchema, 'The previous values of the changed fields.'],
  ['CategoryPrevious', CategoryPreviousSchema, 'The previous values of the changed fields.'],
  ['Account', AccountSchema, 'The account of an API key, at one moment.'],
  ['LimitWindow', WindowSchema, 'What is left of a window of the limits.'],
  ['CallingKey', CallingKeySchema, 'The calling API key.'],
  ['ApiKey', KeySchema, 'An API key of the account.'],
  ['IssuedApiKey', IssuedKeySchema, 'A new API key with its text.'],
  ['NewApiKey', NewKeySchema, 'The properties of a new API key.'],
  ['ApiKeyRotation', KeyRotationSchema, 'How to rotate an API key.'],
  ['ApiKeyState', KeyStateSchema, 'The state of an API key.'],
  ['Scope', ScopeSchema, 'What an API key may do.'],
  ['PlanName', PlanNameSchema, 'The plan of an account.'],
  ['WebhookWithSecret', WebhookWithSecretSchema, 'A webhook with its new secret.'],
  ['Webhook', WebhookSchema, 'A URL that the service sends events to.'],
  ['NewWebhook', NewWebhookSchema, 'A new webhook.'],
  ['WebhookPatch', WebhookPatchSchema, 'A change of a webhook. Absent fields stay as they are.'],
  ['LastAttempt', LastAttemptSchema, 'The result of the last attempt to send a message.'],
  ['WebhookAttempt', AttemptSchema, 'An attempt to send a message to a webhook.'],
  ['EventToSend', SendSchema, 'An event to send once more.'],
  ['EventType', EventTypeSchema, 'The type of an event.'],
  ['WebhookMessage', WebhookMessageSchema, 'What the service sends to a webhook.'],
  ['Ping', PingSchema, 'A requested ping.'],
  ['Inventory', InventorySchema, 'How many animals are in stock.'],
  ['Error', ErrorSchema, 'What went wrong.'],
];

const bySignature = new Map(
  shared.map(([name, schema, description]) => [toSignature(schema), { name, description }]),
);

/** Returns the name and the description of a named schema, or null. */
export function findName(schema: TSchema): { readonly name: string; readonly description: string } | null {
  return bySignature.get(toSignature(schema)) ?? null;
}

/** Describes the named schemas, by name. */
export function describeSchemas() {
  return Object.fromEntries(
    shared.map(([name, schema, description]) => [name, { ...describeMembers(schema), description }]),
  );
}

/**
 * Replaces every named schema inside `node` by a reference, even if its `description` differs. Adds exact bounds to
 * every int64 without a `minimum`.
 */
export function shareSchemas(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const named = bySignature.get(toSignature(node));
  if (named !== undefined) return { $ref: `#/components/schemas/${named.name}` };
  return describeMembers(node);
}

function describeMembers(node: object): object {
  if (Array.isArray(node)) return node.map(shareSchemas);
  const mapping = 'anyOf' in node ? mapTypes(node.anyOf as readonly TSchema[]) : null;
  if (mapping !== null && 'anyOf' in node)
    return { oneOf: shareSchemas(node.anyOf), discriminator: { propertyName: 'type', mapping } };
  const members = Object.fromEntries(
    Object.entries(node)
      // `rule` is a text for error messages and not part of OpenAPI.
      .filter(([key, member]) => key !== 'rule' || typeof member !== 'string')
      .map(([key, member]) => [key, shareSchemas(member)]),
  );
  if ('format' in node && node.format === 'int64' && !('minimum' in node))
    return { ...members, minimum: int64Min, maximum: int64Max };
  const isSmall = 'type' in node && node.type === 'integer' && !('format' in node);
  return isSmall ? { ...members, format: 'int32' } : members;
}

interface Variant {
  readonly properties?: { readonly type?: { readonly enum?: readonly string[] } };
}

/** Maps each `type` to its variant, if every variant has a name and its own values of `type`. Otherwise returns null. */
function mapTypes(variants: readonly TSchema[]): Readonly<Record<string, string>> | null {
  const pairs = variants.map((variant) => {
    const named = bySignature.get(toSignature(variant));
    const types = (variant as Variant).properties?.type?.enum ?? [];
    return named === undefined ? [] : types.map((type) => [type, `#/components/schemas/${named.name}`]);
  });
  return pairs.every((found) => found.length > 0) ? Object.fromEntries(pairs.flat()) : null;
}

function toSignature(schema: object): string {
  return stringifyExactJson({ ...schema, description: undefined });
}
