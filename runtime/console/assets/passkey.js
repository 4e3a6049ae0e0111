'use strict';
// Has a passkey of the person answer what a form asks for. Without it, every form takes the passphrase.
const kind = window.PublicKeyCredential;

async function challenge(button) {
  const fields = new URLSearchParams(new FormData(button.form));
  fields.set('does', button.dataset.does);
  fields.set('of', button.dataset.of ?? '');
  const answer = await fetch(button.dataset.at, {method: 'POST', body: fields});
  if (!answer.headers.get('Content-Type').startsWith('application/json')) {
    throw new Error('Your session has ended. Load the page again.');
  }
  const {options, error} = await answer.json();
  if (error) throw new Error(error);
  return options;
}

function sign(button, options) {
  return button.dataset.does === 'register'
    ? navigator.credentials.create({publicKey: kind.parseCreationOptionsFromJSON(options)})
    : navigator.credentials.get({publicKey: kind.parseRequestOptionsFromJSON(options)});
}

// What the person must fill in, which the passkey does not stand for.
function whole(button) {
  const instead = {'log in': ['name', 'passphrase'], register: []}[button.dataset.does] ?? ['passphrase'];
  return [...button.form.elements].every((field) => instead.includes(field.name) || field.reportValidity());
}

async function press(button) {
  const form = button.form;
  const says = button.parentElement.querySelector('[role=alert]');
  says.textContent = '';
  if (!whole(button)) return;
  button.disabled = true;
  try {
    form.elements.passkey.value = JSON.stringify(await sign(button, await challenge(button)));
  } catch (error) {
    says.textContent = error.name === 'Error' ? error.message
      : 'The passkey has not answered (' + error.name + '). Try again, or type your passphrase.';
    button.disabled = false;
    return;
  }
  if (form.elements.passphrase) form.elements.passphrase.value = '';
  if (button.dataset.answer) {
    const answer = document.createElement('input');
    answer.type = 'hidden';
    answer.name = 'answer';
    answer.value = button.dataset.answer;
    form.append(answer);
  }
  form.submit();
}

for (const field of document.querySelectorAll('input[name=passkey]')) field.value = ''; // what a browser has kept
if (kind && kind.parseCreationOptionsFromJSON && kind.parseRequestOptionsFromJSON) {
  for (const button of document.querySelectorAll('button[data-does]')) {
    button.parentElement.hidden = false;
    button.addEventListener('click', () => press(button));
  }
  document.getElementById('able')?.remove();
}
// A page that the browser goes back to has no answer that was sent, and its buttons can be pressed.
addEventListener('pageshow', (event) => event.persisted && location.reload());
