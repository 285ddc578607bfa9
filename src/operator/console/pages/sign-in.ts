import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { asError, callApi } from './api.ts';

const mark = '#sign-in=';

/** Reads the token from the URL and removes it from the URL, so that the browser's history does not contain it. */
export function takeToken(): string | null {
  if (!location.hash.startsWith(mark)) return null;
  const token = location.hash.slice(mark.length);
  history.replaceState(null, '', `${location.pathname}${location.search}#/`);
  return token;
}

const memory = 'animal-store-wanted';

/** Keeps the address that a visitor wanted to see. The link to sign in may open in another tab. */
function rememberPlace(): void {
  if (!location.hash.startsWith(mark)) localStorage.setItem(memory, location.hash);
}

/** Goes to the address that the visitor wanted before the sign-in. */
export function returnToPlace(): void {
  const wanted = localStorage.getItem(memory);
  localStorage.removeItem(memory);
  if (wanted) location.hash = wanted;
}

const signedIn = 'animal-store-signed-in';

/** Notes in this browser whether it has a session, because pages cannot read its cookie. */
export function rememberSignIn(hasSession: boolean): void {
  if (hasSession) localStorage.setItem(signedIn, 'yes');
  else localStorage.removeItem(signedIn);
}

/** True if this browser had a session that nobody has ended here. */
export function wasSignedIn(): boolean {
  return localStorage.getItem(signedIn) !== null;
}

/** The page of a visitor without a session. */
export function Visitor({ children }: { readonly children?: ComponentChildren }) {
  return html`<main class="visitor">
    <h1>Animal Store console</h1>
    ${children}
  </main>`;
}

interface SignInProps {
  readonly token: string | null;
  /** Why the visitor has no session any more, or an empty text. */
  readonly reason: string;
  readonly onSignedIn: () => void;
}

/** The page for visitors without a session. With a token from a link, it signs in automatically. */
export function SignIn({ token, reason, onSignedIn }: SignInProps) {
  const [failure, setFailure] = useState<Error | null>(null);
  useEffect(() => {
    if (token === null) rememberPlace();
    else callApi('POST /sign-in', {}, { token }).then(onSignedIn, (thrown) => setFailure(asError(thrown)));
  }, [token]);

  if (token !== null && failure === null) return html`<${Visitor}><p role="status">Signing in…</p><//>`;
  return html`<${Visitor}>
    ${failure && html`<p class="failure" role="alert">${failure.message}</p>`}
    ${!failure && reason && html`<p role="status">${reason}</p>`}
    <p>To sign in, run this on the machine of the service, and open the link that it prints:</p>
    <pre tabindex="0"><code>npx animal-store console</code></pre>
    <p class="quiet">
      The link works once, within 10 minutes. There are no passwords. If you have no shell there, ask somebody who has:
      ${' '}<code>console --as NAME</code> prints a link for you.
    </p>
  <//>`;
}
