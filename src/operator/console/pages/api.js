export class ApiFailure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const unreachable = 'The service does not answer. It may be stopped, or the network is down. Try again.';
const onSignedOut = new Set();

/** Calls `listener` when a response says that the session has ended. Returns a function that removes the listener. */
export function watchSession(listener) {
  onSignedOut.add(listener);
  return () => onSignedOut.delete(listener);
}

/**
 * Calls the API. Returns the parsed JSON of the response, or null for a 204. Throws ApiFailure with a message for the
 * user.
 */
export async function callApi(method, path, body) {
  const answer = await send(method, path, body);
  if (answer.status === 204) return null;
  const value = await answer.json().catch(() => null);
  if (answer.ok && value !== null) return value;
  const { code = 'unavailable', message = `The service answered with the status ${answer.status}.` } =
    value ?? {};
  if (code === 'session_missing' && path !== '/sign-in') for (const listener of onSignedOut) listener();
  throw new ApiFailure(code, message);
}

async function send(method, path, body) {
  try {
    return await fetch(`./console/api${path}`, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body !== undefined && { body: writeBody(body) }),
    });
  } catch {
    throw new ApiFailure('unreachable', unreachable);
  }
}

/** Writes an object as JSON, and its bigints with all their digits. */
function writeBody(body) {
  const given = Object.entries(body).filter(([, value]) => value !== undefined);
  const members = given.map(([name, value]) => [
    JSON.stringify(name),
    typeof value === 'bigint' ? value : JSON.stringify(value),
  ]);
  return `{${members.map((member) => member.join(':'))}}`;
}

/** Returns a query string. Omits undefined and empty values. */
export function formatQuery(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
