import type { TSchema } from 'typebox';
import { int64Max, int64Min } from '../../int64.ts';
import type { SchemaName } from '../../schema.ts';

/** The named schemas to which a description refers, by name. A name without a schema has no reference yet. */
export type SharedSchemas = Map<string, object | null>;

/** The schemas of the first releases. They keep their order, so that generated code does not move. */
const firstNames = `
  Pet NewPet PetPatch PetStatus Order NewOrder OrderStatus Category NewCategory
  PetEvent CategoryEvent OrderEvent StoreEvent PingEvent PetPrevious CategoryPrevious
  Account LimitWindow CallingKey ApiKey IssuedApiKey NewApiKey ApiKeyRotation ApiKeyState Scope PlanName
  WebhookWithSecret Webhook NewWebhook WebhookPatch LastAttempt WebhookAttempt EventToSend EventType WebhookMessage Ping
  Inventory Error`;

/** Returns the schemas of a description that refers to none yet. Later schemas follow in the order of their references. */
export function createSharedSchemas(): SharedSchemas {
  return new Map(
    firstNames
      .trim()
      .split(/\s+/)
      .map((name) => [name, null]),
  );
}

/**
 * Replaces every named schema inside `node` by a reference, and adds the schema to `shared`. Adds exact bounds to every
 * int64 without a `minimum`.
 */
export function shareSchemas(node: unknown, shared: SharedSchemas): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const name = nameOf(node);
  if (name === null) return describeMembers(node, shared);
  const { title, about, ...members } = node as SchemaName;
  if (!shared.get(title)) {
    // Its place comes before those of the schemas inside it.
    shared.set(title, null);
    shared.set(title, { ...describeMembers(members, shared), description: about });
  }
  return { $ref: referTo(title) };
}

function nameOf(node: object): string | null {
  return 'title' in node && typeof node.title === 'string' ? node.title : null;
}

function referTo(name: string): string {
  return `#/components/schemas/${name}`;
}

function describeMembers(node: object, shared: SharedSchemas): object {
  if (Array.isArray(node)) return node.map((member) => shareSchemas(member, shared));
  const mapping = 'anyOf' in node ? mapTypes(node.anyOf as readonly TSchema[]) : null;
  if (mapping !== null && 'anyOf' in node)
    return { oneOf: shareSchemas(node.anyOf, shared), discriminator: { propertyName: 'type', mapping } };
  const members = Object.fromEntries(
    Object.entries(node)
      // `rule` is a text for error messages and not part of OpenAPI.
      .filter(([key, member]) => key !== 'rule' || typeof member !== 'string')
      .map(([key, member]) => [key, shareSchemas(member, shared)]),
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
    const name = nameOf(variant);
    const types = (variant as Variant).properties?.type?.enum ?? [];
    return name === null ? [] : types.map((type) => [type, referTo(name)]);
  });
  return pairs.every((found) => found.length > 0) ? Object.fromEntries(pairs.flat()) : null;
}
