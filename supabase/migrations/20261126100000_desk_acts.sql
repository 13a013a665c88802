-- The acts of the desk. Each judges, does, and writes the log in one transaction, as the colleague who asks (or as the
-- company's command, under the name in `by_name`). `seen` is the version that the form was opened at: PT409 when somebody
-- else has changed the thing since; null asks for nothing. `request` is the form's own id: sent twice, it makes one act.

-- The shipment, locked. PT404 without one, PT409 when it is not the version that was seen.
create function private.lock_shipment(shipment_id uuid, seen integer) returns public.shipments
language plpgsql volatile
set search_path = ''
as $$
declare
  shipment public.shipments;
begin
  select * into shipment from public.shipments where id = shipment_id for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such shipment.';
  end if;
  if seen is not null and seen <> shipment.version then
    raise sqlstate 'PT409' using message = 'This shipment has changed since you opened it.';
  end if;
  return shipment;
end
$$;
revoke all on function private.lock_shipment(uuid, integer) from public, anon, authenticated;

-- Whether this very form was acted on before. Locks its key, so that of two at once the second waits for the first.
create function private.was_done(key uuid) returns boolean
language plpgsql volatile
set search_path = ''
as $$
begin
  if key is null then
    return false;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(key::text, 0));
  return exists (select from public.acts where acts.request = key);
end
$$;
revoke all on function private.was_done(uuid) from public, anon, authenticated;

-- Moves a shipment to its next stage, with the event and the note that its client sees. Returns {"stage", "status"}; or
-- {"missing": [name]} and does nothing while documents are missing and `despite_missing` is not set. PT409: it is closed.
create or replace function public.move_shipment(
  shipment_id uuid,
  location text default null,
  note text default null,
  despite_missing boolean default false,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(request, jsonb_build_array('move', shipment_id, location, note));
  shipment public.shipments;
  missing jsonb;
begin
  if private.was_done(key) then
    select * into shipment from public.shipments where id = move_shipment.shipment_id;
    return jsonb_build_object('stage', shipment.stage, 'status', shipment.status);
  end if;
  shipment := private.lock_shipment(move_shipment.shipment_id, seen);
  if shipment.stage = 10 then
    raise sqlstate 'PT409' using message = 'This shipment is closed: stage 10 is the last.';
  end if;
  if despite_missing is not true then
    select jsonb_agg(document.name order by document.name) into missing
    from public.documents as document
    where document.shipment_id = shipment.id and not document.uploaded;
    if missing is not null then
      return jsonb_build_object('missing', missing);
    end if;
  end if;
  update public.shipments set stage = stage + 1, acted_at = now() where id = shipment.id;
  insert into public.tracking_events (shipment_id, status, location, note)
  values (
    shipment.id, private.stage_name((shipment.stage + 1)::smallint),
    nullif(btrim(move_shipment.location), ''), nullif(btrim(move_shipment.note), '')
  );
  perform private.log_act(
    actor, 'shipment advance', shipment => shipment.id, request => key,
    before => jsonb_build_object('stage', shipment.stage),
    -- The words to the client stand in the event, which goes when the shipment goes.
    after => jsonb_strip_nulls(jsonb_build_object(
      'stage', shipment.stage + 1, 'location', nullif(btrim(move_shipment.location), '')
    ))
  );
  return jsonb_build_object('stage', shipment.stage + 1, 'status', private.stage_name((shipment.stage + 1)::smallint));
end
$$;
drop function public.advance_shipment(uuid, text);

-- Puts a shipment at the stage it is really at; a closed one is opened again so.
create function public.correct_stage(
  shipment_id uuid,
  stage integer,
  reason text,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
  key uuid := private.request_key(request, jsonb_build_array('correct', shipment_id, stage, reason));
  shipment public.shipments;
begin
  if not private.was_done(key) then
    shipment := private.lock_shipment(correct_stage.shipment_id, seen);
    if correct_stage.stage not between 1 and 10 then
      raise sqlstate 'PT400' using message = 'Choose one of the ten stages.';
    end if;
    if shipment.stage = correct_stage.stage then
      raise sqlstate 'PT409' using message = 'The shipment is at this stage already.';
    end if;
    update public.shipments set stage = correct_stage.stage, acted_at = now() where id = shipment.id;
    insert into public.tracking_events (shipment_id, status)
    values (shipment.id, 'Corrected: ' || private.stage_name(correct_stage.stage::smallint));
    perform private.log_act(
      actor, 'shipment correct', shipment => shipment.id, request => key, reason => why,
      before => jsonb_build_object('stage', shipment.stage), after => jsonb_build_object('stage', correct_stage.stage)
    );
  end if;
  return jsonb_build_object(
    'stage', correct_stage.stage, 'status', private.stage_name(correct_stage.stage::smallint)
  );
end
$$;

-- Writes the number of the air waybill or bill of lading; none takes it off. Returns the one before.
create function public.save_awb(
  shipment_id uuid,
  awb text,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  number text := nullif(btrim(awb), '');
  key uuid := private.request_key(request, jsonb_build_array('awb', shipment_id, awb));
  shipment public.shipments;
begin
  if private.was_done(key) then
    return null;
  end if;
  shipment := private.lock_shipment(save_awb.shipment_id, seen);
  if shipment.awb is not distinct from number then
    raise sqlstate 'PT409' using message = 'The shipment has this AWB/BL already.';
  end if;
  update public.shipments set awb = number, acted_at = now() where id = shipment.id;
  perform private.log_act(
    actor, 'shipment set-awb', shipment => shipment.id, request => key,
    before => jsonb_build_object('awb', shipment.awb), after => jsonb_build_object('awb', number)
  );
  return shipment.awb;
end
$$;

-- Writes where and when the cargo arrived and in what, and the last day of free storage, which the tariff tells.
create function public.save_arrival(
  shipment_id uuid,
  place text,
  day date,
  size integer,
  free_until date,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(request, jsonb_build_array('arrival', shipment_id, place, day, size));
  shipment public.shipments;
  before jsonb;
begin
  if private.was_done(key) then
    return;
  end if;
  shipment := private.lock_shipment(save_arrival.shipment_id, seen);
  before := jsonb_build_object(
    'place', shipment.arrival_place, 'day', shipment.arrived_on, 'size', shipment.container_size
  );
  update public.shipments
  set arrival_place = place, arrived_on = day, container_size = size, free_until = save_arrival.free_until,
    acted_at = now()
  where id = shipment.id;
  perform private.log_act(
    actor, 'shipment arrived', shipment => shipment.id, request => key,
    before => before, after => jsonb_build_object('place', place, 'day', day, 'size', size)
  );
end
$$;

-- Tells the client something, in the history of the shipment.
create function public.send_note(
  shipment_id uuid,
  note text,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  words text := nullif(btrim(note), '');
  key uuid := private.request_key(request, jsonb_build_array('note', shipment_id, note));
  shipment public.shipments;
begin
  if private.was_done(key) then
    return;
  end if;
  if words is null then
    raise sqlstate 'PT400' using message = 'Write the note.';
  end if;
  shipment := private.lock_shipment(send_note.shipment_id, null);
  insert into public.tracking_events (shipment_id, status, note) values (shipment.id, 'Note', words);
  update public.shipments set acted_at = now(), changed_at = now() where id = shipment.id;
  perform private.log_act(
    actor, 'shipment note', shipment => shipment.id, request => key
  );
end
$$;

-- Sets what a client is to pay, or changes it; what was paid is due again then. `seen` is the version of the charge, -1 when
-- there was none.
create function public.set_charge(
  shipment_id uuid,
  item text,
  amount numeric,
  currency text,
  due_on date default null,
  note text default null,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(
    request, jsonb_build_array('charge', shipment_id, item, amount, currency, due_on, note)
  );
  shipment public.shipments;
  charge public.charges;
begin
  if private.was_done(key) then
    return;
  end if;
  shipment := private.lock_shipment(set_charge.shipment_id, null);
  select * into charge from public.charges
  where charges.shipment_id = shipment.id and charges.item = set_charge.item;
  if seen is not null and seen <> coalesce(charge.version, -1) then
    raise sqlstate 'PT409' using message = 'This charge has changed since you opened it.';
  end if;
  insert into public.charges as known (shipment_id, item, amount, currency, due_on, note)
  values (
    shipment.id, set_charge.item, set_charge.amount, set_charge.currency, set_charge.due_on,
    nullif(btrim(set_charge.note), '')
  )
  on conflict on constraint charges_pkey do update
  set amount = excluded.amount, currency = excluded.currency, due_on = excluded.due_on, note = excluded.note,
    paid_at = null;
  update public.shipments set acted_at = now() where id = shipment.id;
  perform private.log_act(
    actor, 'charge set', shipment => shipment.id, request => key,
    before => case when charge.item is not null then jsonb_build_object(
      'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on,
      'paid_at', charge.paid_at
    ) end,
    after => jsonb_build_object(
      'item', item, 'amount', set_charge.amount, 'currency', set_charge.currency, 'due_on', set_charge.due_on
    )
  );
end
$$;

-- Notes that a charge was paid, or, with a reason, that it was not after all.
create function public.mark_charge(
  shipment_id uuid,
  item text,
  paid boolean,
  reason text default null,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := case when paid then null else private.require_reason(reason) end;
  key uuid := private.request_key(request, jsonb_build_array('paid', shipment_id, item, paid, reason));
  shipment public.shipments;
  charge public.charges;
begin
  if private.was_done(key) then
    return;
  end if;
  shipment := private.lock_shipment(mark_charge.shipment_id, null);
  select * into charge from public.charges
  where charges.shipment_id = shipment.id and charges.item = mark_charge.item;
  if not found then
    raise sqlstate 'PT404' using message = 'Nothing is charged for this yet.';
  end if;
  if seen is not null and seen <> charge.version then
    raise sqlstate 'PT409' using message = 'This charge has changed since you opened it.';
  end if;
  if (charge.paid_at is not null) = paid then
    raise sqlstate 'PT409' using message =
      case when paid then 'This is marked as paid already.' else 'This is not marked as paid.' end;
  end if;
  update public.charges set paid_at = case when paid then now() end
  where charges.shipment_id = shipment.id and charges.item = mark_charge.item;
  update public.shipments set acted_at = now() where id = shipment.id;
  perform private.log_act(
    actor, case when paid then 'charge paid' else 'charge unpaid' end,
    shipment => shipment.id, request => key, reason => why, after => jsonb_build_object('item', item)
  );
end
$$;

-- The document, locked, of a shipment. PT404 without one, PT409 when it is not the version that was seen.
create function private.lock_document(document_id uuid, seen integer) returns public.documents
language plpgsql volatile
set search_path = ''
as $$
declare
  document public.documents;
begin
  select * into document from public.documents where id = document_id for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such document.';
  end if;
  if seen is not null and seen <> document.version then
    raise sqlstate 'PT409' using message = 'This document has changed since you opened it.';
  end if;
  return document;
end
$$;
revoke all on function private.lock_document(uuid, integer) from public, anon, authenticated;

-- Marks a document as verified. Who calls has read the bytes: `sha256` is their hash and `file_version` the stored object's
-- version, which the table compares with what was recorded.
create function public.verify_document(
  document_id uuid,
  sha256 text,
  file_version text,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(request, jsonb_build_array('verify', document_id));
  document public.documents;
begin
  if private.was_done(key) then
    return;
  end if;
  document := private.lock_document(verify_document.document_id, seen);
  if not document.uploaded then
    raise sqlstate 'PT409' using message = format('The %s has not been uploaded yet.', document.name);
  end if;
  -- Verifying again records the hash of one that was verified before there were any.
  if document.verified and document.sha256 is not null then
    raise sqlstate 'PT409' using message = format('The %s is verified already.', document.name);
  end if;
  update public.documents
  set verified = true, sha256 = verify_document.sha256, storage_version = verify_document.file_version
  where id = document.id;
  update public.shipments set acted_at = now() where id = document.shipment_id;
  perform private.log_act(
    actor, 'document verify', shipment => document.shipment_id, document => document.id, request => key,
    after => jsonb_build_object('verified', true)
  );
end
$$;

-- Takes a verification back.
create function public.unverify_document(
  document_id uuid,
  reason text,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
  key uuid := private.request_key(request, jsonb_build_array('unverify', document_id, reason));
  document public.documents;
begin
  if private.was_done(key) then
    return;
  end if;
  document := private.lock_document(unverify_document.document_id, seen);
  if not document.verified then
    raise sqlstate 'PT409' using message = format('The %s is not verified.', document.name);
  end if;
  update public.documents set verified = false where id = document.id;
  update public.shipments set acted_at = now() where id = document.shipment_id;
  perform private.log_act(
    actor, 'document unverify', shipment => document.shipment_id, document => document.id, request => key,
    reason => why, before => jsonb_build_object('verified', true), after => jsonb_build_object('verified', false)
  );
end
$$;

-- Takes the file off a document. The stored object stays, counted by nothing, until `staff retention` removes it.
create function private.take_file_back(document public.documents, sent_back_reason text) returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  perform set_config('portal.file_taken_back', document.id::text, true);
  update public.documents
  set uploaded = false, verified = false, storage_path = null, storage_version = null, sha256 = null, file_name = null,
    file_size = null, media_type = null, uploaded_at = null,
    sent_back_at = case when take_file_back.sent_back_reason is not null then now() end,
    sent_back_reason = take_file_back.sent_back_reason
  where id = document.id;
  perform set_config('portal.file_taken_back', '', true);
end
$$;
revoke all on function private.take_file_back(public.documents, text) from public, anon, authenticated;

-- Sends a document back: its client is asked for another file and told why.
create function public.send_back_document(
  document_id uuid,
  reason text,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
  key uuid := private.request_key(request, jsonb_build_array('send back', document_id, reason));
  document public.documents;
  stage smallint;
begin
  if private.was_done(key) then
    return;
  end if;
  if char_length(why) > 500 then
    raise sqlstate 'PT400' using message = 'Use at most 500 characters.';
  end if;
  document := private.lock_document(send_back_document.document_id, seen);
  if not document.uploaded then
    raise sqlstate 'PT409' using message = format('The %s has not been uploaded yet.', document.name);
  end if;
  if document.verified then
    raise sqlstate 'PT409' using message = format('The %s is verified: take the verification back first.', document.name);
  end if;
  -- Not a share: two documents sent back at once would wait for each other at the update below.
  select shipments.stage into stage from public.shipments where id = document.shipment_id for no key update;
  if stage = 10 then
    raise sqlstate 'PT409' using message = 'This shipment is closed: its client could send no other file.';
  end if;
  perform private.take_file_back(document, why);
  update public.shipments set acted_at = now() where id = document.shipment_id;
  perform private.log_act(
    actor, 'document send-back', shipment => document.shipment_id, document => document.id, request => key,
    reason => why, before => jsonb_build_object('sha256', document.sha256, 'file', document.storage_path)
  );
end
$$;

-- Notes that a colleague opens a document's file, and returns what it has to be: {"shipment", "name", "storage_path",
-- "storage_version", "sha256", "file_name", "media_type"}. PT404 without a file.
create function public.open_document(document_id uuid, by_name text default null) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  document public.documents;
begin
  select * into document from public.documents where id = open_document.document_id and uploaded;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such file.';
  end if;
  perform private.log_act(actor, 'document open', shipment => document.shipment_id, document => document.id);
  return jsonb_build_object(
    'shipment', document.shipment_id, 'name', document.name, 'storage_path', document.storage_path,
    'storage_version', document.storage_version, 'sha256', document.sha256,
    'file_name', document.file_name, 'media_type', document.media_type
  );
end
$$;

-- Says something to all clients, instead of what was said before.
create function public.announce(text text, request uuid default null, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  words text := btrim(announce.text);
  key uuid := private.request_key(request, jsonb_build_array('announce', announce.text));
begin
  if private.was_done(key) then
    return;
  end if;
  if coalesce(words, '') = '' then
    raise sqlstate 'PT400' using message = 'Write the notice.';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('announcement', 0));
  update public.announcements set ended_at = now() where ended_at is null;
  insert into public.announcements (text) values (words);
  perform private.log_act(actor, 'notice set', request => key, after => jsonb_build_object('text', words));
end
$$;

-- Ends what is said to all clients.
create function public.end_announcement(by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  said text;
begin
  update public.announcements set ended_at = now() where ended_at is null returning announcements.text into said;
  if found then
    perform private.log_act(actor, 'notice end', before => jsonb_build_object('text', said));
  end if;
end
$$;

-- Whether an account is a client's. PT404 when it is a colleague's, or nobody's.
create function private.require_client(account uuid) returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  perform from auth.users where id = require_client.account
    and not exists (select from public.colleagues where colleagues.account = require_client.account)
  for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such client.';
  end if;
end
$$;
revoke all on function private.require_client(uuid) from public, anon, authenticated;

-- Closes a client's account: its sessions end at once, and nobody signs in to it; or opens it again.
create function public.close_account(account uuid, reason text, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
begin
  perform private.require_client(close_account.account);
  update auth.users set banned_until = now() + interval '100 years'
  where id = close_account.account and coalesce(banned_until < now(), true);
  if not found then
    raise sqlstate 'PT409' using message = 'This account is closed already.';
  end if;
  delete from private.password_links where password_links.account = close_account.account;
  perform private.end_sessions(close_account.account);
  perform private.log_act(actor, 'account close', account => close_account.account, reason => why);
end
$$;

create function public.open_account(account uuid, reason text, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
begin
  perform private.require_client(open_account.account);
  update auth.users set banned_until = null where id = open_account.account and banned_until > now();
  if not found then
    raise sqlstate 'PT409' using message = 'This account is open.';
  end if;
  perform private.log_act(actor, 'account open', account => open_account.account, reason => why);
end
$$;

-- Takes every second factor off an account whose owner lost theirs; a colleague's only by a lead. All its sessions end.
-- Returns how many verified ones there were.
create function public.remove_second_factors(account uuid, reason text default null, by_name text default null) returns integer
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor(
    case when exists (select from public.colleagues where colleagues.account = remove_second_factors.account)
      then 'lead' else 'clerk' end,
    by_name
  );
  removed integer;
begin
  with gone as (
    delete from auth.mfa_factors where user_id = remove_second_factors.account returning status
  )
  select count(*) filter (where status = 'verified') into removed from gone;
  if removed = 0 then
    raise sqlstate 'PT409' using message = 'This account has no second factor.';
  end if;
  perform private.end_sessions(remove_second_factors.account);
  perform private.log_act(
    actor, 'account reset-2fa', account => remove_second_factors.account, reason => reason,
    after => jsonb_build_object('removed', removed)
  );
  return removed;
end
$$;

-- Notes that a link to set a new password is sent to an account; returns its address. A colleague's only by a lead.
create function public.ask_password_link(account uuid, by_name text default null) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor(
    case when exists (select from public.colleagues where colleagues.account = ask_password_link.account)
      then 'lead' else 'clerk' end,
    by_name
  );
  address text;
begin
  select email into address from auth.users
  where id = ask_password_link.account and email_confirmed_at is not null and coalesce(banned_until < now(), true);
  if not found then
    raise sqlstate 'PT409' using message = 'This account is closed, or its address was never confirmed.';
  end if;
  perform private.log_act(actor, 'account send-password-link', account => ask_password_link.account);
  return address;
end
$$;

-- Begins to erase a client's account: judges whether its shipments may go, closes it and ends its sessions. Returns its
-- address. PT409 says until when a shipment has to be kept. The site deletes the rest then, files first to last.
create function public.begin_erasure(account uuid, reason text, by_name text default null) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
  kept date;
  address text;
begin
  perform private.require_client(begin_erasure.account);
  select max(retain_until) into kept from public.shipments where user_id = begin_erasure.account;
  if kept >= (now() at time zone 'UTC')::date then
    raise sqlstate 'PT409' using message = format(
      'This account has shipments that have to be kept, the last until %s: nothing was deleted.', kept
    );
  end if;
  update auth.users set banned_until = now() + interval '100 years' where id = begin_erasure.account returning email into address;
  perform private.end_sessions(begin_erasure.account);
  perform private.log_act(actor, 'account erase', account => begin_erasure.account, reason => why);
  return address;
end
$$;

-- New client IDs, 1 to 1000 at once, for somebody who is named and perhaps written to.
drop function public.issue_client_ids(integer);
create function public.issue_client_ids(
  how_many integer default 1,
  issued_for text default null,
  sent_to text default null,
  request uuid default null,
  by_name text default null
) returns setof public.client_ids
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(request, jsonb_build_array('issue', how_many, issued_for, sent_to));
begin
  if private.was_done(key) then
    return query
    select issued.* from public.acts
    join public.client_ids as issued on acts.after -> 'ids' ? issued.client_id
    where acts.request = key;
    return;
  end if;
  return query
  with issued as (
    insert into public.client_ids (client_id, issued_for, sent_to)
    select private.new_client_id(), nullif(btrim(issue_client_ids.issued_for), ''),
      nullif(lower(btrim(issue_client_ids.sent_to)), '')
    from generate_series(1, least(how_many, 1000))
    returning client_ids.*
  ),
  logged as (
    select private.log_act(
      actor, 'client-id new', request => key,
      after => jsonb_build_object('count', count(*)) || case
        -- An ID in the log could be read there and used: only the form that was sent twice asks for it.
        when key is not null and count(*) <= 100 then jsonb_build_object('ids', jsonb_agg(issued.client_id))
        else '{}' end
    )
    from issued
    having count(*) > 0
  )
  select issued.* from issued, logged;
end
$$;

-- Withdraws an unused client ID: nobody signs up with it any more.
create function public.withdraw_client_id(client_id text, reason text, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
begin
  delete from public.client_ids where client_ids.client_id = withdraw_client_id.client_id and used_with is null;
  if not found then
    raise sqlstate 'PT409' using message = 'This Client ID is not known, or has been used.';
  end if;
  perform private.log_act(
    actor, 'client-id withdraw', before => jsonb_build_object('client_id', withdraw_client_id.client_id), reason => why
  );
end
$$;

-- Notes a mail that could not be handed over, or that somebody has dealt with one.
create function public.note_undelivered(kind text, sent_to text, account uuid default null, client_id text default null)
returns void
language sql volatile security definer
set search_path = ''
as $$
  insert into public.undelivered_mails (kind, sent_to, account, client_id)
  values (note_undelivered.kind, note_undelivered.sent_to, note_undelivered.account, note_undelivered.client_id)
$$;
revoke all on function public.note_undelivered(text, text, uuid, text) from public, anon, authenticated;
grant execute on function public.note_undelivered(text, text, uuid, text) to service_role;

create function public.dismiss_undelivered(mail uuid, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  gone public.undelivered_mails;
begin
  update public.undelivered_mails set dealt_with_at = now()
  where id = dismiss_undelivered.mail and dealt_with_at is null returning * into gone;
  if found then
    perform private.log_act(actor, 'mail dealt with', account => gone.account, before => jsonb_build_object('kind', gone.kind));
  end if;
end
$$;

do $$
declare
  act text;
begin
  foreach act in array array[
    'move_shipment(uuid, text, text, boolean, integer, uuid, text)',
    'correct_stage(uuid, integer, text, integer, uuid, text)',
    'save_awb(uuid, text, integer, uuid, text)',
    'save_arrival(uuid, text, date, integer, date, integer, uuid, text)',
    'send_note(uuid, text, uuid, text)',
    'set_charge(uuid, text, numeric, text, date, text, integer, uuid, text)',
    'mark_charge(uuid, text, boolean, text, integer, uuid, text)',
    'verify_document(uuid, text, text, integer, uuid, text)',
    'unverify_document(uuid, text, integer, uuid, text)',
    'send_back_document(uuid, text, integer, uuid, text)',
    'open_document(uuid, text)',
    'announce(text, uuid, text)',
    'end_announcement(text)',
    'close_account(uuid, text, text)',
    'open_account(uuid, text, text)',
    'remove_second_factors(uuid, text, text)',
    'ask_password_link(uuid, text)',
    'begin_erasure(uuid, text, text)',
    'issue_client_ids(integer, text, text, uuid, text)',
    'withdraw_client_id(text, text, text)',
    'dismiss_undelivered(uuid, text)'
  ] loop
    execute format('revoke all on function public.%s from public, anon', act);
    execute format('grant execute on function public.%s to authenticated, service_role', act);
  end loop;
end
$$;

-- Keeps a shipment longer, through a day; a shipment's last day only moves back. Returns its last day before.
create function public.keep_shipment(shipment_id uuid, day date, by_name text default null) returns date
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  shipment public.shipments := private.lock_shipment(shipment_id, null);
begin
  if shipment.retain_until >= day then
    raise sqlstate 'PT409' using message = 'It is kept until then already: a shipment''s last day only moves back.';
  end if;
  update public.shipments set retain_until = day where id = shipment.id;
  perform private.log_act(
    actor, 'shipment keep', shipment => shipment.id,
    before => jsonb_build_object('retain_until', shipment.retain_until),
    after => jsonb_build_object('retain_until', day)
  );
  return shipment.retain_until;
end
$$;
revoke all on function public.keep_shipment(uuid, date, text) from public, anon, authenticated;
grant execute on function public.keep_shipment(uuid, date, text) to service_role;
