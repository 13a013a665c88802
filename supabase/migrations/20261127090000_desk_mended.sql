-- What the first days at the desk asked for.

-- Bytes of files are read by the site alone, after open_document has judged who asks and written it down: a colleague's own
-- token reads nothing in the bucket, so that nothing is opened unseen and no signed address outlives a removal.
drop policy "colleagues read all files" on storage.objects;

-- Notes that a colleague opens a document's file, and returns what it has to be: {"shipment", "name", "storage_path",
-- "storage_version", "sha256", "file_name", "media_type"}. PT404 without a file, or when it is another shipment's.
drop function public.open_document(uuid, text);
create function public.open_document(document_id uuid, shipment_id uuid, by_name text default null) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  document public.documents;
begin
  select * into document from public.documents
  where id = open_document.document_id and documents.shipment_id = open_document.shipment_id and uploaded;
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

-- Writes the number of the air waybill or bill of lading; none takes it off. One that stands is changed with a reason.
-- Returns the one before.
drop function public.save_awb(uuid, text, integer, uuid, text);
create function public.save_awb(
  shipment_id uuid,
  awb text,
  reason text default null,
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
  why text;
begin
  if private.was_done(key) then
    return null;
  end if;
  shipment := private.lock_shipment(save_awb.shipment_id, seen);
  if shipment.awb is not distinct from number then
    raise sqlstate 'PT409' using message = 'The shipment has this AWB/BL already.';
  end if;
  if shipment.awb is not null then
    why := private.require_reason(reason);
  end if;
  update public.shipments set awb = number, acted_at = now() where id = shipment.id;
  perform private.log_act(
    actor, 'shipment set-awb', shipment => shipment.id, request => key, reason => why,
    before => jsonb_build_object('awb', shipment.awb), after => jsonb_build_object('awb', number)
  );
  return shipment.awb;
end
$$;

-- Sets what a client is to pay, or changes it. The sum of what was paid stays: it is marked as not paid first, with a
-- reason. `seen` is the version of the charge, -1 when there was none.
create or replace function public.set_charge(
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
  if charge.paid_at is not null and (charge.amount, charge.currency) <> (set_charge.amount, set_charge.currency) then
    raise sqlstate 'PT409' using message = 'This sum is marked as paid: mark it as not paid first.';
  end if;
  insert into public.charges as known (shipment_id, item, amount, currency, due_on, note)
  values (
    shipment.id, set_charge.item, set_charge.amount, set_charge.currency, set_charge.due_on,
    nullif(btrim(set_charge.note), '')
  )
  on conflict on constraint charges_pkey do update
  set amount = excluded.amount, currency = excluded.currency, due_on = excluded.due_on, note = excluded.note;
  update public.shipments set acted_at = now() where id = shipment.id;
  perform private.log_act(
    actor, 'charge set', shipment => shipment.id, request => key,
    before => case when charge.item is not null then jsonb_build_object(
      'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on
    ) end,
    after => jsonb_build_object(
      'item', item, 'amount', set_charge.amount, 'currency', set_charge.currency, 'due_on', set_charge.due_on
    )
  );
end
$$;

-- Notes that a charge was paid, or, with a reason, that it was not after all.
create or replace function public.mark_charge(
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
    shipment => shipment.id, request => key, reason => why,
    before => jsonb_build_object('item', item, 'paid', not paid), after => jsonb_build_object('item', item, 'paid', paid)
  );
end
$$;

-- Sends a document back: its client is asked for another file and told why.
create or replace function public.send_back_document(
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
    -- The file by its hash: its path has the name that a person gave it, and the log outlives the account.
    reason => why, before => jsonb_build_object('sha256', document.sha256), after => jsonb_build_object('sha256', null)
  );
end
$$;

-- PT409 when without this one nobody would be left who can invite, change and remove colleagues. A lead who was invited and
-- has not come yet takes nobody's place.
create or replace function private.require_another_lead(account uuid) returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  others uuid[];
  has_come boolean;
begin
  -- Locked, in one order, so that two leads do not remove each other at once.
  perform from public.colleagues where role = 'lead' and removed_at is null order by colleagues.account for update;
  if not exists (
    select from public.colleagues
    where colleagues.account = require_another_lead.account and role = 'lead' and removed_at is null
  ) then
    return;
  end if;
  select users.last_sign_in_at is not null into has_come from auth.users where users.id = require_another_lead.account;
  others := array(
    select colleagues.account from public.colleagues
    join auth.users on users.id = colleagues.account
    where colleagues.account <> require_another_lead.account and colleagues.role = 'lead'
      and colleagues.removed_at is null
      and (users.last_sign_in_at is not null or not has_come)
  );
  if cardinality(others) = 0 then
    raise sqlstate 'PT409' using message = 'This is the last lead who works here: make somebody else a lead first.';
  end if;
end
$$;

-- The form that issued a client ID: sent again, it gets the same ones. The log names no ID that could still be used.
alter table public.client_ids add column request uuid;
create index client_ids_of_request on public.client_ids (request) where request is not null;

create or replace function public.issue_client_ids(
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
    return query select issued.* from public.client_ids as issued where issued.request = key;
    return;
  end if;
  return query
  with issued as (
    insert into public.client_ids (client_id, issued_for, sent_to, request)
    select private.new_client_id(), nullif(btrim(issue_client_ids.issued_for), ''),
      nullif(lower(btrim(issue_client_ids.sent_to)), ''), key
    from generate_series(1, least(how_many, 1000))
    returning client_ids.*
  ),
  logged as (
    select private.log_act(actor, 'client-id new', request => key, after => jsonb_build_object('count', count(*)))
    from issued
    having count(*) > 0
  )
  select issued.* from issued, logged;
end
$$;

-- A mail that a form asks for leaves once, however often the form is sent: whoever claims it first sends it. A claim is given
-- back when the mail could not be sent, and is nothing after two minutes: whoever had it is gone.
create table private.mail_claims (key uuid primary key, at timestamptz not null default now());
alter table private.mail_claims enable row level security;
revoke all on table private.mail_claims from anon, authenticated, service_role;

create function public.claim_mail(request uuid, sent_to text) returns boolean
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  is_mine boolean;
begin
  delete from private.mail_claims where at < now() - interval '1 day';
  insert into private.mail_claims as claim (key) values (private.request_key(request, jsonb_build_array('mail', sent_to)))
  on conflict (key) do update set at = now() where claim.at < now() - interval '2 minutes'
  returning true into is_mine;
  return coalesce(is_mine, false);
end
$$;

create function public.release_mail(request uuid, sent_to text) returns void
language sql volatile security definer
set search_path = ''
as $$
  delete from private.mail_claims where key = private.request_key(request, jsonb_build_array('mail', sent_to))
$$;

-- Mails to the owner of an account, too.
alter table public.undelivered_mails
  drop constraint undelivered_mails_kind_check,
  add constraint undelivered_mails_kind_check check (
    kind in ('invitation', 'client ID', 'new password', 'password change', 'second factor')
  );

-- Notes that a client ID is mailed to the address it was issued for, and takes an earlier mail that was not delivered off the
-- list; the address. PT409: it has been used, or there is no address.
create function public.send_client_id(client_id text, request uuid default null, by_name text default null) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(request, jsonb_build_array('send client ID', client_id));
  address text;
begin
  select sent_to into address from public.client_ids
  where client_ids.client_id = send_client_id.client_id and used_with is null and sent_to is not null;
  if not found then
    raise sqlstate 'PT409' using message = 'This Client ID is not known, or has been used, or was issued without an address.';
  end if;
  if private.was_done(key) then
    return address;
  end if;
  update public.undelivered_mails set dealt_with_at = now()
  where undelivered_mails.client_id = send_client_id.client_id and dealt_with_at is null;
  perform private.log_act(actor, 'client-id send', request => key);
  return address;
end
$$;
revoke all on function public.send_client_id(text, uuid, text) from public, anon;
grant execute on function public.send_client_id(text, uuid, text) to authenticated, service_role;

-- As before, and the session itself has to be at AAL2 still: a second factor that was removed takes its token's claim along.
create or replace function private.is_colleague() returns boolean
language sql stable security definer
set search_path = ''
as $$
  select coalesce((select auth.jwt()) ->> 'aal' = 'aal2', false)
    and exists (
      select from public.colleagues where account = (select auth.uid()) and removed_at is null
    )
    and exists (
      select from auth.sessions
      where id = ((select auth.jwt()) ->> 'session_id')::uuid and user_id = (select auth.uid()) and aal::text = 'aal2'
    )
$$;

-- What a colleague writes for clients has no characters that a page or a mail would not show; amounts and days are ones that
-- a shipment can have ("NaN" and "infinity" are values of their types).
alter table public.charges
  add constraint charges_amount_is_a_sum check (amount < 1000000000000),
  add constraint charges_due_on_is_a_day check (due_on between '2000-01-01' and '2100-01-01'),
  add constraint charges_note_is_one_line check (note !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]');
alter table public.shipments
  add constraint shipments_awb_is_one_line check (awb !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'),
  add constraint shipments_arrived_on_is_a_day check (arrived_on between '2000-01-01' and '2100-01-01'),
  add constraint shipments_free_until_is_after_arrival check (free_until between arrived_on and arrived_on + 366);
alter table public.announcements
  add constraint announcements_text_is_one_line check (text !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]');
alter table public.tracking_events
  add constraint tracking_events_location_is_one_line check (
    location !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
  ),
  add constraint tracking_events_note_is_text check (note !~ '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]');
alter table public.documents
  add constraint documents_reason_is_text check (
    sent_back_reason !~ '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
  );
alter table public.client_ids
  add constraint client_ids_for_is_one_line check (issued_for !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'),
  add constraint client_ids_sent_to_is_an_address check (
    sent_to ~ '^[^\s@<>,;:"()]+@[^\s@<>,;:"()]+$' and sent_to !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
  );

-- A reason, trimmed; PT400 without one.
create or replace function private.require_reason(reason text) returns text
language plpgsql immutable
set search_path = ''
as $$
begin
  if coalesce(btrim(reason), '') = '' then
    raise sqlstate 'PT400' using message = 'Say why, in a few words.';
  end if;
  if char_length(reason) > 2000 then
    raise sqlstate 'PT400' using message = 'Use at most 2,000 characters.';
  end if;
  if reason ~ '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]' then
    raise sqlstate 'PT400' using message = 'This holds a character that cannot be seen. Type it again.';
  end if;
  return btrim(reason);
end
$$;

-- As before, and what auth keeps beside the name is short: it is read with every page.
create or replace function private.check_full_name() returns trigger
language plpgsql
set search_path = ''
as $$
declare
  name text := new.raw_user_meta_data ->> 'full_name';
begin
  if char_length(name) > 100 or name ~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]' then
    raise exception 'the full name in the user''s metadata is not one line of at most 100 characters'
      using errcode = 'check_violation';
  end if;
  if octet_length(new.raw_user_meta_data::text) > 4000 then
    raise exception 'the user''s metadata is over 4000 bytes' using errcode = 'check_violation';
  end if;
  return new;
end
$$;
drop trigger check_changed_full_name on auth.users;
create trigger check_changed_full_name
before update of raw_user_meta_data on auth.users
for each row
when (new.raw_user_meta_data is distinct from old.raw_user_meta_data)
execute function private.check_full_name();

-- Moves every shipment of a list on, each by itself: one that cannot move stops no other. `moves` are {"id", "seen"}, at most
-- 50. Returns [{"id", "why"}]: `why` is null for those that moved, else "missing" (documents), "closed", "changed" (since they
-- were seen) or "unknown".
create function public.move_shipments(
  moves jsonb,
  location text default null,
  request uuid default null,
  by_name text default null
) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  asked record;
  why text;
  answer jsonb := '[]';
begin
  if jsonb_array_length(moves) > 50 then
    raise sqlstate 'PT400' using message = 'Move at most 50 shipments at once.';
  end if;
  -- In one order, so that two colleagues who move the same shipments do not wait for each other.
  for asked in
    select distinct on (id) id, seen from jsonb_to_recordset(moves) as one (id uuid, seen integer) order by id
  loop
    begin
      why := case when public.move_shipment(asked.id, location, seen => asked.seen, request => request, by_name => by_name)
        ? 'missing' then 'missing' end;
    exception
      when sqlstate 'PT404' then why := 'unknown';
      when sqlstate 'PT409' then
        why := case when exists (select from public.shipments where shipments.id = asked.id and stage = 10)
          then 'closed' else 'changed' end;
    end;
    answer := answer || jsonb_build_object('id', asked.id, 'why', why);
  end loop;
  return answer;
end
$$;
revoke all on function public.move_shipments(jsonb, text, uuid, text) from public, anon;
grant execute on function public.move_shipments(jsonb, text, uuid, text) to authenticated, service_role;

-- Takes every second factor off an account whose owner lost theirs; a colleague's only by a lead. All its sessions end.
-- Returns {"removed": how many verified ones there were, "email": whom to tell}.
drop function public.remove_second_factors(uuid, text, text);
create function public.remove_second_factors(account uuid, reason text default null, by_name text default null) returns jsonb
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
  return jsonb_build_object(
    'removed', removed, 'email', (select email from auth.users where users.id = remove_second_factors.account)
  );
end
$$;

-- The form that invited somebody: sent again, it invites nobody a second time.
alter table private.colleague_invitations add column request uuid;

-- Invites a colleague, or a removed one again. Returns {"account"} when there is one, or {"invitation"} for auth to make
-- it with. PT409 when the address is a client's, or a colleague's who works here.
drop function public.invite_colleague(text, text, text, text);
create function public.invite_colleague(
  email text, name text, role text, request uuid default null, by_name text default null
) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('lead', by_name);
  address text := lower(btrim(email));
  key uuid := private.request_key(request, jsonb_build_array('invite', email, name, role));
  known uuid;
  colleague public.colleagues;
  made uuid;
begin
  select users.id into known from auth.users where users.email = address;
  if private.was_done(key) then
    return jsonb_build_object('account', known);
  end if;
  select invitation.id into made from private.colleague_invitations as invitation where invitation.request = key;
  if found then
    return jsonb_build_object('invitation', made);
  end if;
  if known is null then
    insert into private.colleague_invitations as invitation (email, name, role, by_name, by_account, request)
    values (address, btrim(invite_colleague.name), invite_colleague.role, actor.name, actor.account, key)
    on conflict on constraint colleague_invitations_email_key do update
    set id = gen_random_uuid(), name = excluded.name, role = excluded.role, by_name = excluded.by_name,
      by_account = excluded.by_account, request = excluded.request, made_at = now()
    returning invitation.id into made;
    return jsonb_build_object('invitation', made);
  end if;
  select * into colleague from public.colleagues where account = known for update;
  if not found then
    raise sqlstate 'PT409' using
      message = 'This address has a client''s account. A colleague needs an address of their own.';
  end if;
  if colleague.removed_at is null and exists (
    select from auth.users where users.id = known and users.last_sign_in_at is not null
  ) then
    raise sqlstate 'PT409' using message = 'This address is a colleague''s already.';
  end if;
  update public.colleagues
  set removed_at = null, name = btrim(invite_colleague.name), role = invite_colleague.role
  where account = known;
  -- Who was removed comes back as somebody new: by the link of this invitation alone, with a second factor of now.
  if colleague.removed_at is not null then
    delete from auth.mfa_factors where user_id = known;
    update auth.users
    set banned_until = null, encrypted_password = extensions.crypt(gen_random_uuid()::text, extensions.gen_salt('bf', 10))
    where id = known;
  end if;
  perform private.log_act(
    actor, 'colleague invite', account => known, request => key,
    after => jsonb_build_object('role', invite_colleague.role)
  );
  return jsonb_build_object('account', known);
end
$$;
revoke all on function public.invite_colleague(text, text, text, uuid, text) from public, anon;
grant execute on function public.invite_colleague(text, text, text, uuid, text) to authenticated, service_role;

-- As before: a colleague's invitation is spent by the account that auth makes with it, and the log has the form's request.
create or replace function private.claim_client_id() returns trigger
language plpgsql security definer
set search_path = ''
as $$
declare
  id text := new.raw_user_meta_data ->> 'client_id';
  mark text := private.mark_of(id, new.email);
  invited private.colleague_invitations;
begin
  delete from private.colleague_invitations as invitation
  where invitation.id::text = new.raw_user_meta_data ->> 'colleague_invitation'
    and invitation.email = lower(new.email)
  returning * into invited;
  if found then
    insert into public.colleagues (account, name, role) values (new.id, invited.name, invited.role);
    perform private.log_act(
      row(invited.by_name, invited.by_account)::private.actor, 'colleague invite',
      account => new.id, after => jsonb_build_object('role', invited.role), request => invited.request
    );
    return new;
  end if;
  update public.client_ids
  set claimed_by = new.id, claimed_at = now(), used_with = mark, had_turn = true,
    used_at = case when had_turn then used_at else now() end
  where client_ids.client_id = id and claimed_by is null and coalesce(used_with, mark) = mark;
  if not found then
    raise exception 'no unclaimed client ID in the new user''s metadata';
  end if;
  return new;
end
$$;

-- The ids that begin with what was typed, as the lowest and the highest; null when no id begins so. Four characters or more.
create function private.ids_beginning(typed text) returns uuid[]
language plpgsql immutable
set search_path = ''
as $$
declare
  shape constant text := '00000000-0000-0000-0000-000000000000';
  beginning text := lower(btrim(typed));
begin
  if char_length(beginning) between 4 and 36
    and beginning || substr(shape, char_length(beginning) + 1) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  then
    return array[
      beginning || substr(shape, char_length(beginning) + 1),
      beginning || substr(replace(shape, '0', 'f'), char_length(beginning) + 1)
    ]::uuid[];
  end if;
  return null;
end
$$;
revoke all on function private.ids_beginning(text) from public, anon, authenticated;

-- The most characters of a search. Longer ones find nothing: no name has as many.
create or replace function private.anywhere(q text) returns text
language sql immutable
set search_path = ''
as $$
  select case
    when char_length(q) <= 254 then '%' || regexp_replace(btrim(q), '([\\%_])', '\\\1', 'g') || '%'
  end
$$;

-- The shipments of a list, newest change first: at most `most`, after `skip` others. Or, for the CSV, in the order in which
-- they were opened, newest first, after the one whose time and id are given: what changes meanwhile stays where it is. Search
-- finds a name, an AWB/BL, the beginning of an id, and a client's name or address; `to_check` those with a document to check.
drop function private.find_shipments(text, integer, text, integer, integer, timestamptz, uuid);
create function private.find_shipments(
  q text, stage integer, turn text, to_check boolean, skip integer, most integer,
  as_opened boolean default false, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable
set search_path = ''
as $$
declare
  pattern text := private.anywhere(q);
  ids uuid[];
  clients uuid[];
  conditions text := 'true';
  by_time text := case when as_opened then 'created_at' else 'changed_at' end;
  found jsonb;
begin
  if coalesce(q, '') <> '' then
    ids := private.ids_beginning(q);
    clients := array(
      select users.id from auth.users
      where users.email ilike pattern or users.raw_user_meta_data ->> 'full_name' ilike pattern
    );
    conditions := '(shipment.name ilike $1 or shipment.awb ilike $1 or shipment.id between $2 and $3'
      || ' or shipment.user_id = any ($4))';
  end if;
  if stage is not null then
    conditions := conditions || ' and shipment.stage = $5';
  end if;
  if turn is not null then
    conditions := conditions || ' and shipment.turn = $6';
  end if;
  if to_check then
    conditions := conditions || ' and shipment.id in (
      select document.shipment_id from public.documents as document where document.uploaded and not document.verified)';
  end if;
  if before is not null then
    conditions := conditions || format(' and (shipment.%s, shipment.id) < ($9, $10)', by_time);
  end if;
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', found.id, 'name', found.name, 'awb', found.awb, 'stage', found.stage, 'status', found.status,
      'turn', found.turn, 'changed_at', found.changed_at, 'created_at', found.created_at, 'version', found.version,
      'client', account.raw_user_meta_data ->> 'full_name', 'email', account.email
    ) order by found.%2$s desc, found.id desc), '[]'::jsonb)
    from (
      select * from public.shipments as shipment where %1$s
      order by shipment.%2$s desc, shipment.id desc
      offset $7 limit $8
    ) as found
    join auth.users as account on account.id = found.user_id
  $query$, conditions, by_time)
  into found
  using pattern, ids[1], ids[2], clients, stage, turn, skip, most, before, before_id;
  return found;
end
$$;
revoke all on function private.find_shipments(text, integer, text, boolean, integer, integer, boolean, timestamptz, uuid)
from public, anon, authenticated;
create index shipments_by_opening on public.shipments (created_at desc, id desc);

-- The next shipments of /desk/shipments.csv after the one whose opening and id are given: 500, so that the whole list goes
-- through without being anywhere at once.
drop function public.desk_shipments_after(text, integer, text, timestamptz, uuid);
create function public.desk_shipments_after(
  q text default null, stage integer default null, turn text default null, to_check boolean default false,
  before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'shipments', private.find_shipments(
      desk_shipments_after.q, desk_shipments_after.stage, desk_shipments_after.turn, to_check, 0, 500, true,
      desk_shipments_after.before, desk_shipments_after.before_id
    )
  );
end
$$;

-- /desk: the day's work. Each list has its count, up to 100, and its eight oldest. A shipment stands still when we have done
-- nothing on it, and it has been ours, for 7 days.
drop index public.shipments_standing;
create index shipments_standing on public.shipments (greatest(acted_at, turn_since), id) where turn = 'company';
create or replace function public.desk_today() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  today date := (now() at time zone 'Africa/Nairobi')::date;
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'announcement', (
      select jsonb_build_object('text', text, 'begun_at', begun_at) from public.announcements where ended_at is null
    ),
    'to_check', jsonb_build_object(
      'count', private.up_to_a_hundred('select from public.documents where uploaded and not verified'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select document.shipment_id as shipment, document.id as document, shipment.name, document.name as what,
            document.uploaded_at as at
          from public.documents as document
          join public.shipments as shipment on shipment.id = document.shipment_id
          where document.uploaded and not document.verified
          order by document.uploaded_at, document.id
          limit 8
        ) as line
      )
    ),
    'storage', jsonb_build_object(
      'count', private.up_to_a_hundred(format(
        'select from public.shipments where free_until <= %L and stage < 9', today + 3
      )),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.day), '[]'::jsonb)
        from (
          select id as shipment, name, free_until as day
          from public.shipments
          where free_until <= today + 3 and stage < 9
          order by free_until, id
          limit 8
        ) as line
      )
    ),
    'standing', jsonb_build_object(
      'count', private.up_to_a_hundred(
        'select from public.shipments where turn = ''company''
          and greatest(acted_at, turn_since) < now() - interval ''7 days'''
      ),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select id as shipment, name, status as what, greatest(acted_at, turn_since) as at
          from public.shipments
          where turn = 'company' and greatest(acted_at, turn_since) < now() - interval '7 days'
          order by greatest(acted_at, turn_since), id
          limit 8
        ) as line
      )
    ),
    'waiting', jsonb_build_object(
      'count', private.up_to_a_hundred(
        'select from public.shipments where turn = ''client'' and turn_since < now() - interval ''7 days'''
      ),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select id as shipment, name, status as what, turn_since as at
          from public.shipments
          where turn = 'client' and turn_since < now() - interval '7 days'
          order by turn_since, id
          limit 8
        ) as line
      )
    ),
    'undelivered', jsonb_build_object(
      'count', private.up_to_a_hundred('select from public.undelivered_mails where dealt_with_at is null'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select id, kind, sent_to, account, client_id, at,
            exists (select from public.colleagues where colleagues.account = undelivered_mails.account) as is_colleague
          from public.undelivered_mails
          where dealt_with_at is null
          order by at, id
          limit 8
        ) as line
      )
    )
  );
end
$$;

-- /desk/clients, or one of them: `opened`. Search finds a name, an address, and a whole client ID.
create or replace function public.desk_clients(q text default null, page integer default 1, opened uuid default null) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  pattern text;
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  pattern := private.anywhere(coalesce(q, ''));
  return jsonb_build_object(
    'caller', private.caller(),
    'clients', case when opened is not null then '[]'::jsonb else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'closed', coalesce(account.banned_until > now(), false),
        'confirmed', account.email_confirmed_at is not null
      ) order by account.created_at desc, account.id desc), '[]'::jsonb)
      from (
        select * from auth.users
        where not exists (select from public.colleagues where colleagues.account = users.id)
          and (
            coalesce(btrim(q), '') = ''
            or users.email ilike pattern
            or users.raw_user_meta_data ->> 'full_name' ilike pattern
            or users.id = (select claimed_by from public.client_ids where client_id = upper(btrim(q)))
          )
        order by users.created_at desc, users.id desc
        offset (greatest(page, 1) - 1) * 20 limit 21
      ) as account
    ) end,
    'opened', (
      select jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'last_sign_in_at', account.last_sign_in_at,
        'closed', coalesce(account.banned_until > now(), false), 'confirmed', account.email_confirmed_at is not null,
        'client_id', (select client_id from public.client_ids where claimed_by = account.id),
        'factors', (
          select count(*) from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'kept_until', (select max(retain_until) from public.shipments where user_id = account.id),
        'shipments', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
            'turn', shipment.turn, 'changed_at', shipment.changed_at
          ) order by shipment.changed_at desc, shipment.id desc), '[]'::jsonb)
          from (
            select * from public.shipments where user_id = account.id order by created_at desc, id desc limit 20
          ) as shipment
        ),
        'log', private.shown_acts(array(
          select entry from public.acts as entry where entry.account = account.id
          order by entry.at desc, entry.id desc limit 8
        ))
      )
      from auth.users as account
      where account.id = desk_clients.opened
        and not exists (select from public.colleagues where colleagues.account = desk_clients.opened)
    )
  );
end
$$;

-- /desk/colleagues, for leads: those who work here, those who are invited, and those who left.
create or replace function public.desk_colleagues() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague()
    or not exists (select from public.colleagues where account = auth.uid() and role = 'lead')
  then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'colleagues', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', colleague.account, 'name', colleague.name, 'email', account.email, 'role', colleague.role,
        'created_at', colleague.created_at, 'removed_at', colleague.removed_at,
        'last_sign_in_at', account.last_sign_in_at,
        'has_factor', exists (
          select from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'is_me', account.id = auth.uid()
      ) order by colleague.removed_at nulls first, colleague.name, colleague.account), '[]'::jsonb)
      from (select * from public.colleagues order by removed_at nulls first, name, account limit 100) as colleague
      join auth.users as account on account.id = colleague.account
    )
  );
end
$$;

-- /desk/log: the acts, newest first, of those whose name has `who` in it, of a kind, of a shipment (an id or its beginning),
-- of an account, of a day (East Africa Time). Page 0: those after the one whose time and id are given, 500 of them, for the
-- CSV.
drop function public.desk_log(text, text, uuid, date, integer, timestamptz, uuid);
create function public.desk_log(
  who text default null, what text default null, shipment text default null, account uuid default null,
  day date default null, page integer default 1, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  conditions text := 'true';
  names text[];
  ids uuid[];
  found public.acts[];
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  if who is not null then
    -- The names in the log, one after the other by their index: there are few, however many acts they did.
    with recursive known as (
      select min(acts.by_name) as name from public.acts
      union all
      select (select min(acts.by_name) from public.acts where acts.by_name > known.name) from known where known.name is not null
    )
    select array_agg(known.name) into names from known where known.name ilike private.anywhere(who);
    conditions := conditions || ' and entry.by_name = any ($1)';
  end if;
  if what is not null then
    conditions := conditions || ' and entry.act = $2';
  end if;
  if shipment is not null then
    ids := private.ids_beginning(shipment);
    conditions := conditions || case when ids[1] = ids[2] then ' and entry.shipment = $3' else
      ' and entry.shipment between $3 and $4' end;
  end if;
  if account is not null then
    conditions := conditions || ' and entry.account = $5';
  end if;
  if day is not null then
    conditions := conditions || ' and entry.at >= $6 and entry.at < $7';
  end if;
  if before is not null then
    conditions := conditions || ' and (entry.at, entry.id) < ($8, $9)';
  end if;
  execute format(
    'select array(select entry from public.acts as entry where %s order by entry.at desc, entry.id desc offset $10 limit $11)',
    conditions
  )
  into found
  using names, what, ids[1], ids[2], account, day::timestamp at time zone 'Africa/Nairobi',
    (day + 1)::timestamp at time zone 'Africa/Nairobi', before, before_id,
    (greatest(page, 1) - 1) * 50, case when page = 0 then 500 else 51 end;
  return jsonb_build_object('caller', private.caller(), 'acts', private.shown_acts(found));
end
$$;

-- /desk/shipments and one of them beside the list: `opened`, null for none.
drop function public.desk_shipments(text, integer, text, integer, uuid);
create function public.desk_shipments(
  q text default null, stage integer default null, turn text default null, to_check boolean default false, page integer default 1,
  opened uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'shipments', private.find_shipments(
      desk_shipments.q, desk_shipments.stage, desk_shipments.turn, to_check, (greatest(page, 1) - 1) * 20, 21
    ),
    'opened', (
      select jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'awb', shipment.awb, 'stage', shipment.stage,
        'status', shipment.status, 'turn', shipment.turn, 'turn_since', shipment.turn_since,
        'changed_at', shipment.changed_at, 'created_at', shipment.created_at, 'version', shipment.version,
        'retain_until', shipment.retain_until,
        'arrival', case when shipment.arrived_on is not null then jsonb_build_object(
          'place', shipment.arrival_place, 'day', shipment.arrived_on, 'size', shipment.container_size,
          'free_until', shipment.free_until
        ) end,
        'client', (
          select jsonb_build_object(
            'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
            'closed', coalesce(account.banned_until > now(), false)
          )
          from auth.users as account where account.id = shipment.user_id
        ),
        'documents', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'verified', document.verified,
            'file_name', document.file_name, 'file_size', document.file_size, 'media_type', document.media_type,
            'uploaded_at', document.uploaded_at, 'version', document.version,
            'sent_back_at', document.sent_back_at, 'sent_back_reason', document.sent_back_reason
          )), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id
        ),
        'charges', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on,
            'note', charge.note, 'paid_at', charge.paid_at, 'version', charge.version
          )), '[]'::jsonb)
          from public.charges as charge where charge.shipment_id = shipment.id
        ),
        'events', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', event.id, 'status', event.status, 'location', event.location, 'note', event.note,
            'created_at', event.created_at
          ) order by event.created_at desc, event.id desc), '[]'::jsonb)
          from (
            select * from public.tracking_events
            where tracking_events.shipment_id = shipment.id
            order by created_at desc, id desc limit 9
          ) as event
        ),
        'log', private.shown_acts(array(
          select entry from public.acts as entry where entry.shipment = shipment.id
          order by entry.at desc, entry.id desc limit 8
        ))
      )
      from public.shipments as shipment where shipment.id = desk_shipments.opened
    )
  );
end
$$;

-- The answer to a bulk move: the shipments of a list with what they are now, and what is missing of each.
create function public.desk_moved(shipments uuid[]) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
        'client', coalesce(account.raw_user_meta_data ->> 'full_name', account.email),
        'missing', (
          select coalesce(jsonb_agg(document.name order by document.name), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id and not document.uploaded
        )
      ) order by shipment.name, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      join auth.users as account on account.id = shipment.user_id
      where shipment.id = any (desk_moved.shipments[1:50])
    )
  );
end
$$;

-- /desk/invitations: the unused client IDs, newest first.
create or replace function public.desk_invitations(page integer default 1) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'invitations', (
      select coalesce(jsonb_agg(to_jsonb(line) order by line.created_at desc, line.client_id), '[]'::jsonb)
      from (
        select client_id, issued_for, sent_to, created_at
        from public.client_ids
        where used_with is null
        order by created_at desc, client_id
        offset (greatest(page, 1) - 1) * 20 limit 21
      ) as line
    )
  );
end
$$;

-- Lines of the log as the desk shows them, with the names of what they are about while there are any.
create or replace function private.shown_acts(acts public.acts[]) returns jsonb
language sql stable
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', act.id, 'at', act.at, 'by', act.by_name, 'act', act.act, 'shipment', act.shipment, 'account', act.account,
    'document', (select name from public.documents where id = act.document),
    'shipment_name', (select name from public.shipments where id = act.shipment),
    'account_name', (
      select coalesce(users.raw_user_meta_data ->> 'full_name', users.email) from auth.users where users.id = act.account
    ),
    'before', act.before, 'after', act.after, 'reason', act.reason
  ) order by act.at desc, act.id desc), '[]'::jsonb)
  from unnest(acts) as act
$$;

revoke all on function public.claim_mail(uuid, text), public.release_mail(uuid, text) from public, anon, authenticated;
grant execute on function public.claim_mail(uuid, text), public.release_mail(uuid, text) to service_role;

-- For commands: who works at the desk, by name.
create function public.list_colleagues() returns table (account uuid, name text, role text, email text, has_come boolean)
language sql stable security definer
set search_path = ''
as $$
  select colleagues.account, colleagues.name, colleagues.role, users.email, users.last_sign_in_at is not null
  from public.colleagues
  join auth.users on users.id = colleagues.account
  where removed_at is null
  order by colleagues.name, colleagues.account
$$;
revoke all on function public.list_colleagues() from public, anon, authenticated;
grant execute on function public.list_colleagues() to service_role;

do $$
declare
  act text;
begin
  foreach act in array array[
    'open_document(uuid, uuid, text)',
    'remove_second_factors(uuid, text, text)',
    'save_awb(uuid, text, text, integer, uuid, text)'
  ] loop
    execute format('revoke all on function public.%s from public, anon', act);
    execute format('grant execute on function public.%s to authenticated, service_role', act);
  end loop;
  foreach act in array array[
    'desk_today()', 'desk_shipments(text, integer, text, boolean, integer, uuid)', 'desk_moved(uuid[])',
    'desk_shipments_after(text, integer, text, boolean, timestamptz, uuid)', 'desk_clients(text, integer, uuid)',
    'desk_invitations(integer)', 'desk_colleagues()', 'desk_log(text, text, text, uuid, date, integer, timestamptz, uuid)'
  ] loop
    -- Hosted Supabase grants every new function to its roles.
    execute format('revoke all on function public.%s from public, anon, service_role', act);
    execute format('grant execute on function public.%s to authenticated', act);
  end loop;
end
$$;
