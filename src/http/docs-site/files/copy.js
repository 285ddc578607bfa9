/* Adds a copy button to every code block. */

async function copy(button, code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
  } catch {
    // The clipboard is not available over plain HTTP. The code is selected instead.
    getSelection().selectAllChildren(code);
    button.textContent = 'Selected';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2000);
}

for (const block of document.querySelectorAll('main pre')) {
  const wrapper = document.createElement('div');
  wrapper.className = 'copied';
  wrapper.dataset.language = block.dataset.language ?? '';
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy the ${block.dataset.language || 'code'}`);
  button.addEventListener('click', () => copy(button, block.firstElementChild));
  block.replaceWith(wrapper);
  wrapper.append(block, button);
}

/* Adds a button that copies the whole page as Markdown. */
const tools = document.querySelector('.tools');
if (tools !== null) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy page';
  button.addEventListener('click', async () => {
    const response = await fetch(tools.querySelector('a').href);
    try {
      await navigator.clipboard.writeText(await response.text());
      button.textContent = 'Copied';
    } catch {
      location.href = response.url;
    }
  });
  tools.prepend(button);
}
