/* The reference: Swagger UI with exact numbers, one field for the key, and the colours of the system. */
const place = document.getElementById('reference');
const guides = place.dataset.guides;
const wrongKey = 'A key has letters, digits and _ only; “…” stands for its rest. It is not sent.';
const isDark = matchMedia('(prefers-color-scheme: dark)');

/** JSON with all digits of its numbers, as JavaScript's own would round an int64; what is no JSON as it is. */
function formatExactly(text) {
  const keepDigits = (_name, value, context) =>
    typeof value === 'number' ? JSON.rawJSON(context.source) : value;
  try {
    return JSON.stringify(JSON.parse(text, keepDigits), null, 2);
  } catch {
    return text;
  }
}

/** Shows a JSON answer to the digit, in place of Swagger UI's own view, which rounds. */
function ExactAnswers({ React: { createElement }, getComponent }) {
  const wrap = (Original) => (props) => {
    const { content, contentType } = props;
    if (typeof content !== 'string' || !/json/i.test(contentType)) return createElement(Original, props);
    const options = { language: 'json', canCopy: true, downloadable: true, fileName: 'answer.json' };
    return createElement(
      'div',
      null,
      createElement('h5', null, 'Response body'),
      createElement(getComponent('HighlightCode', true), options, formatExactly(content)),
    );
  };
  return { wrapComponents: { responseBody: wrap } };
}

/** An int64 is typed as text: a number field would round it. */
function ExactFields({ React: { createElement }, getComponent }) {
  const Field = (props) => createElement(getComponent('JsonSchema_string'), props);
  return { components: { JsonSchema_integer_int64: Field } };
}

/** Of all but a success only when it comes and its codes, each with a link: their bodies and headers are alike. */
function ShortFailures({ React: { createElement }, getComponent }) {
  const linkCode = (code) => [
    createElement('a', { href: `${guides}errors#${code}` }, createElement('code', null, code)),
    ' ',
  ];
  const wrap = (Original) => (props) => {
    const { code, response } = props;
    if (/^2/.test(code)) return createElement(Original, props);
    const codes = response.getIn(['content', 'application/json', 'examples'])?.keySeq().toArray() ?? [];
    return createElement(
      'tr',
      { className: 'response', 'data-code': code },
      createElement('td', { className: 'response-col_status' }, code),
      createElement(
        'td',
        { className: 'response-col_description', colSpan: 2 },
        createElement(getComponent('Markdown', true), { source: response.get('description') }),
        createElement('p', null, ...codes.flatMap(linkCode)),
      ),
    );
  };
  return { wrapComponents: { response: wrap } };
}

/** What was pasted as a key, without blanks and the word that stands before it in a header. */
function readKey(text) {
  return text.trim().replace(/^(?:Authorization:\s*)?Bearer\s+/i, '');
}

/** One field for the key, which stays in the page and is gone with it. What no header can bear is not sent. */
function KeyField({ React: { createElement, useState }, getSystem }) {
  function KeyInput() {
    const [isWrong, setIsWrong] = useState(false);
    const onChange = ({ target }) => {
      const key = readKey(target.value);
      const isSendable = /^[!-~]+$/.test(key);
      setIsWrong(key !== '' && !isSendable);
      if (isSendable) getSystem().preauthorizeApiKey('apiKey', key);
      else getSystem().authActions.logout(['apiKey']);
    };
    const field = {
      name: 'api-key',
      placeholder: 'paste your key here',
      autoComplete: 'off',
      autoCapitalize: 'off',
      spellCheck: false,
      'aria-invalid': isWrong,
      onChange,
    };
    return createElement(
      'div',
      { className: 'key-field' },
      createElement('label', null, 'API key', createElement('input', field)),
      createElement('p', { role: 'alert' }, isWrong ? wrongKey : null),
    );
  }
  return { components: { AuthorizeBtnContainer: KeyInput, authorizeOperationBtn: () => null } };
}

/**
 * The description as Swagger UI is to have it: without bounds that it would round, and without the examples of
 * optional parameters, which its try-it would send.
 */
function readDescription(text) {
  const isRounded = (value) => Number.isInteger(value) && !Number.isSafeInteger(value);
  const description = JSON.parse(text, (_name, value) => (isRounded(value) ? undefined : value));
  const operations = Object.values(description.paths).flatMap((path) => Object.values(path));
  const shared = Object.values(description.components.parameters ?? {});
  for (const parameter of [...operations.flatMap(({ parameters = [] }) => parameters), ...shared])
    if (parameter.required !== true) delete parameter.example;
  return description;
}

/** Says what a try-it needs where the base address lies elsewhere: only the one who runs the service can allow it. */
function warnOfOtherOrigin({ servers: [{ url }] }) {
  const { origin } = new URL(url, location.href);
  if (origin === location.origin) return;
  const note = document.createElement('p');
  note.className = 'note';
  const link = document.createElement('a');
  link.href = new URL('../docs', new URL(`${url}/`, location.href));
  link.textContent = link.href;
  note.append('The try-it calls ', origin, ', and a browser lets this page do so only if CORS_ORIGINS has ');
  note.append(location.origin, ' there. Without that open ', link, '.');
  place.before(note);
}

function followColours() {
  document.documentElement.classList.toggle('dark-mode', isDark.matches);
}

async function show() {
  const response = await fetch(place.dataset.description);
  if (!response.ok) throw new Error(`the description cannot be read: ${(await response.json()).message}`);
  const spec = readDescription(await response.text());
  warnOfOtherOrigin(spec);
  SwaggerUIBundle({
    domNode: place,
    spec,
    plugins: [ExactAnswers, ExactFields, ShortFailures, KeyField],
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    showCommonExtensions: true,
    showExtensions: true,
    tryItOutEnabled: true,
    syntaxHighlight: { theme: 'nord' },
    validatorUrl: null,
  });
}

followColours();
isDark.addEventListener('change', followColours);
show().catch(({ message }) => {
  place.textContent = message;
});
