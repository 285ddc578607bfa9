// Made by client/generate.ts from the /openapi.json of the service; not to be edited.

/** An animal. */
export interface Pet {
  /** Unique identifier assigned by the service on creation. */
  readonly id: bigint;
  /** The animal's name. */
  readonly name: string;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId: bigint;
  readonly status?: PetStatus | undefined;
}

/** An animal to be added. */
export interface NewPet {
  /** The animal's name. */
  readonly name: string;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId: bigint | number;
  readonly status?: PetStatus | undefined;
}

/** A change of an animal: what it leaves out stays as it is. */
export interface PetPatch {
  /** The animal's name. */
  readonly name?: string | undefined;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId?: bigint | number | undefined;
  readonly status?: PetStatus | undefined;
}

/** Availability of an animal. */
export type PetStatus = 'available' | 'pending' | 'sold';

/** An order: the reservation of an animal, and what became of it. */
export interface Order {
  /** Unique identifier assigned by the service on creation. */
  readonly id: bigint;
  /** Identifier of the animal. */
  readonly petId: bigint;
  readonly status: OrderStatus;
  /** The client's own number, if it gave one. */
  readonly reference?: string | undefined;
  /** When the order was placed. */
  readonly createdAt: string;
  /** When the hold ends, or would have ended. */
  readonly expiresAt: string;
  /** Since when the order has its present status; absent while it is reserved. */
  readonly closedAt?: string | undefined;
  /** Whose order it is; told to keys with `orders:manage` alone. */
  readonly account?: string | undefined;
}

/** An order to be placed. */
export interface NewOrder {
  /** Identifier of the animal to be reserved. */
  readonly petId: bigint | number;
  /** How long the animal is held. Beyond 86,400 only with the scope `orders:manage`. */
  readonly holdSeconds?: number | undefined;
  /** The client's own number for the order; need not be unique. */
  readonly reference?: string | undefined;
}

/** What has become of an order. */
export type OrderStatus = 'reserved' | 'completed' | 'cancelled' | 'expired' | 'returned';

/** A name for a number that animals may bear as `categoryId`. */
export interface Category {
  /** The `categoryId` of its animals. */
  readonly id: bigint;
  /** The category's name. */
  readonly name: string;
}

/** The name of a category. */
export interface NewCategory {
  /** The category's name. */
  readonly name: string;
}

/** What happened. */
export type PetEventType = 'pet.added' | 'pet.updated' | 'pet.deleted';

/** What happened to an animal. */
export interface PetEvent {
  /** Unique identifier of the event. Later events have greater ones, compared as ASCII text. */
  readonly id: string;
  /** What happened. */
  readonly type: PetEventType;
  /** When it happened, by the clock of the store. */
  readonly timestamp: string;
  readonly data: Pet;
  readonly previous?: PetPrevious | undefined;
}

/** What happened. */
export type CategoryEventType = 'category.updated' | 'category.deleted';

/** What happened to a category. */
export interface CategoryEvent {
  /** Unique identifier of the event. Later events have greater ones, compared as ASCII text. */
  readonly id: string;
  /** What happened. */
  readonly type: CategoryEventType;
  /** When it happened, by the clock of the store. */
  readonly timestamp: string;
  readonly data: Category;
  readonly previous?: CategoryPrevious | undefined;
}

/** What happened. */
export type OrderEventType =
  | 'order.reserved'
  | 'order.completed'
  | 'order.cancelled'
  | 'order.expired'
  | 'order.returned';

/** What happened to an order. */
export interface OrderEvent {
  /** Unique identifier of the event. Later events have greater ones, compared as ASCII text. */
  readonly id: string;
  /** What happened. */
  readonly type: OrderEventType;
  /** When it happened, by the clock of the store. */
  readonly timestamp: string;
  readonly data: Order;
}

/** The former values of what has changed. */
export interface PetPrevious {
  /** The animal's name. */
  readonly name?: string | undefined;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId?: bigint | undefined;
  readonly status?: PetStatus | undefined;
}

/** The former values of what has changed. */
export interface CategoryPrevious {
  /** The category's name. */
  readonly name?: string | undefined;
}

/** Machine-readable error code. */
export type ErrorCode =
  | 'api_key_missing'
  | 'api_key_invalid'
  | 'api_key_expired'
  | 'api_key_revoked'
  | 'scope_missing'
  | 'rate_limit_exceeded'
  | 'key_banned'
  | 'invalid_body'
  | 'invalid_parameter'
  | 'idempotency_key_reused'
  | 'idempotency_key_in_use'
  | 'pet_unavailable'
  | 'pet_in_order'
  | 'order_closed'
  | 'order_expired'
  | 'limit_reached'
  | 'events_expired'
  | 'precondition_failed'
  | 'not_found'
  | 'gone'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'request_timeout'
  | 'headers_too_large'
  | 'internal_error'
  | 'unavailable';

/** What went wrong. */
export interface ErrorBody {
  /** Machine-readable error code. */
  readonly code: ErrorCode;
  /** Human-readable description. */
  readonly message: string;
  /** The HTTP status code. */
  readonly status: number;
}

/** List animals: what the query may hold. */
export interface ListPetsQuery {
  /** Maximum number of animals returned. */
  readonly limit?: number | undefined;
  /** Availability. */
  readonly status?: PetStatus | undefined;
  /** Filter by category, a plain decimal integer. */
  readonly categoryId?: bigint | number | undefined;
  /** Only the animals of these identifiers; one that is unknown is absent. */
  readonly id?: readonly (bigint | number)[] | undefined;
  /** Where the page begins: copied from the `Link` of the page before. */
  readonly cursor?: string | undefined;
}

/** List categories: what the query may hold. */
export interface ListCategoriesQuery {
  /** Maximum number of categories returned. */
  readonly limit?: number | undefined;
  /** Where the page begins: copied from the `Link` of the page before. */
  readonly cursor?: string | undefined;
}

/** Count animals by status: what the query may hold. */
export interface GetInventoryQuery {
  /** Only the animals of this category. */
  readonly categoryId?: bigint | number | undefined;
}

/** List orders: what the query may hold. */
export interface ListOrdersQuery {
  /** Maximum number of orders returned. */
  readonly limit?: number | undefined;
  /** What has become of the order. */
  readonly status?: OrderStatus | undefined;
  /** Only orders for this animal. */
  readonly petId?: bigint | number | undefined;
  /** Only orders with this reference. */
  readonly reference?: string | undefined;
  /** Where the page begins: copied from the `Link` of the page before. */
  readonly cursor?: string | undefined;
}

/** List events: what the query may hold. */
export interface ListEventsQuery {
  /** The events behind this one: its id, or `now` for the end. Without it from the oldest on. */
  readonly after?: string | undefined;
  /** Maximum number of events returned. */
  readonly limit?: number | undefined;
  /** How many seconds an empty page may wait for an event. */
  readonly wait?: number | undefined;
}

export const operations = {
  /** List animals. */
  listPets: { method: 'GET', path: '/pets' },
  /** Add an animal. */
  createPet: { method: 'POST', path: '/pets' },
  /** Get an animal. */
  getPet: { method: 'GET', path: '/pets/{petId}' },
  /** Change an animal. */
  updatePet: { method: 'PATCH', path: '/pets/{petId}' },
  /** Delete an animal. */
  deletePet: { method: 'DELETE', path: '/pets/{petId}' },
  /** List categories. */
  listCategories: { method: 'GET', path: '/categories' },
  /** Name a category. */
  putCategory: { method: 'PUT', path: '/categories/{categoryId}' },
  /** Delete a category. */
  deleteCategory: { method: 'DELETE', path: '/categories/{categoryId}' },
  /** Count animals by status. */
  getInventory: { method: 'GET', path: '/store/inventory' },
  /** List orders. */
  listOrders: { method: 'GET', path: '/orders' },
  /** Place an order. */
  placeOrder: { method: 'POST', path: '/orders' },
  /** Get an order. */
  getOrder: { method: 'GET', path: '/orders/{orderId}' },
  /** Complete an order. */
  completeOrder: { method: 'POST', path: '/orders/{orderId}/complete' },
  /** Cancel an order. */
  cancelOrder: { method: 'POST', path: '/orders/{orderId}/cancel' },
  /** Take an order back. */
  returnOrder: { method: 'POST', path: '/orders/{orderId}/return' },
  /** List events. */
  listEvents: { method: 'GET', path: '/events' },
} as const;
