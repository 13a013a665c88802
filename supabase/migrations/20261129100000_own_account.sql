-- A client's own account: its address changed, its data given out, and the wish to be erased.

-- A new address that waits to be confirmed by its mailbox and the account's password. One an account; a day.
create table private.email_changes (
  account uuid primary key references auth.users (id) on delete cascade,
  token_hash text not null unique,
  email text not null check (email = lower(email) and char_length(email) <= 254),
  expires_at timestamptz not null default now() + interval '1 day',
  -- Spent by who confirms it, and given back when the address was not changed after all.
  spent_at timestamptz
);
create index email_changes_past on private.email_changes (expires_at);
alter table private.email_changes enable row level security;
revoke all on table private.email_changes from anon, authenticated, service_role;

-- Begins a change of address and returns the token of its link, 256 random bits in base 16; a link from before opens nothing
-- more. Null when the address has an account: the caller must not tell. PT429 within a minute of the last one. For the
-- site's own mails.
create function public.begin_email_change(account uuid, email text) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  token text := encode(extensions.gen_random_bytes(32), 'hex');
begin
  insert into private.email_changes as change (account, token_hash, email)
  values (begin_email_change.account, encode(sha256(convert_to(token, 'UTF8')), 'hex'), lower(begin_email_change.email))
  on conflict on constraint email_changes_pkey do update
  set token_hash = excluded.token_hash, email = excluded.email, expires_at = excluded.expires_at, spent_at = null
  where change.expires_at < now() + interval '1 day' - interval '1 minute' or change.spent_at is not null;
  if not found then
    raise sqlstate 'PT429' using message = 'A message is on its way already. Wait a minute and try again.';
  end if;
  if exists (select from auth.users where users.email = lower(begin_email_change.email)) then
    return null;
  end if;
  return token;
end
$$;

-- What a link opens: {"account", "email", "old_email", "factors": [{"id", "name"}]}; null when it is wrong, used or old, its
-- account is closed, or has become a colleague's.
create function public.email_change(token text) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'account', account.id, 'email', change.email, 'old_email', account.email,
    'factors', (
      select coalesce(jsonb_agg(jsonb_build_object('id', factor.id, 'name', coalesce(factor.friendly_name, ''))
        order by factor.created_at, factor.id), '[]'::jsonb)
      from auth.mfa_factors as factor
      where factor.user_id = account.id and factor.status = 'verified'
    )
  )
  from private.email_changes as change
  join auth.users as account on account.id = change.account
  where change.token_hash = encode(sha256(convert_to(email_change.token, 'UTF8')), 'hex')
    and change.spent_at is null and change.expires_at > now() and coalesce(account.banned_until < now(), true)
    and not exists (select from public.colleagues where colleagues.account = account.id)
$$;

-- Spends a link: true for one of any number at once, false where email_change shows nothing. PT409 when the address has an
-- account by now. Links to a new password that went to the old address open nothing more.
create function public.spend_email_change(token text) returns boolean
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  shown jsonb := public.email_change(token);
begin
  if shown is null then
    return false;
  end if;
  if exists (select from auth.users where users.email = shown ->> 'email') then
    raise sqlstate 'PT409' using message = 'This address cannot be used. Choose another one on the page of your account.';
  end if;
  update private.email_changes as change set spent_at = now()
  where change.token_hash = encode(sha256(convert_to(spend_email_change.token, 'UTF8')), 'hex') and change.spent_at is null;
  if not found then
    return false;
  end if;
  delete from private.password_links where password_links.account = (shown ->> 'account')::uuid;
  return true;
end
$$;

-- Gives a link back that was spent a moment ago, by who spent it.
create function public.unspend_email_change(token text) returns void
language sql volatile security definer
set search_path = ''
as $$
  update private.email_changes set spent_at = null
  where token_hash = encode(sha256(convert_to(unspend_email_change.token, 'UTF8')), 'hex')
    and spent_at > now() - interval '2 minutes'
$$;

-- Ends the links of an account that wait in mailboxes: to a new address, and to a new password.
create function public.forget_links(account uuid) returns void
language sql volatile security definer
set search_path = ''
as $$
  with address as (delete from private.email_changes where email_changes.account = forget_links.account)
  delete from private.password_links where password_links.account = forget_links.account
$$;

-- Who asked to be erased. A wish goes with the account, when the company answers it, or when its owner takes it back.
create table private.erasure_requests (
  account uuid primary key references auth.users (id) on delete cascade,
  asked_at timestamptz not null default now()
);
alter table private.erasure_requests enable row level security;
revoke all on table private.erasure_requests from anon, authenticated, service_role;

-- Asks for the erasure of the caller's account, or takes that back.
create function public.ask_erasure(wanted boolean) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
begin
  if not private.assurance_suffices() or not private.is_client() then
    raise sqlstate 'PT403' using message = 'Log in again to do this.';
  end if;
  if wanted then
    insert into private.erasure_requests (account) values (auth.uid()) on conflict do nothing;
  else
    delete from private.erasure_requests where account = auth.uid();
  end if;
end
$$;
revoke all on function public.ask_erasure(boolean) from public, anon;
grant execute on function public.ask_erasure(boolean) to authenticated;

-- Answers a wish to be erased that cannot be met yet, with the reason for its owner; returns the address to tell.
create function public.refuse_erasure(account uuid, reason text, by_name text default null) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
  address text;
begin
  delete from private.erasure_requests as request using auth.users
  where request.account = refuse_erasure.account and users.id = request.account
  returning users.email into address;
  if address is null then
    raise sqlstate 'PT409' using message = 'This client does not ask to be erased, or somebody has answered.';
  end if;
  perform private.log_act(actor, 'account keep', account => refuse_erasure.account, reason => why);
  return address;
end
$$;
revoke all on function public.refuse_erasure(uuid, text, text) from public, anon;
grant execute on function public.refuse_erasure(uuid, text, text) to authenticated, service_role;

-- /portal/account: who asks, and what the page shows of the account; "account" is null for a session that has to give its
-- code first.
create function public.portal_account() returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'caller', private.caller(),
    'account', (
      select jsonb_build_object(
        'created_at', users.created_at,
        'client_id', (select client_id from public.client_ids where claimed_by = users.id),
        'wants_notices', not exists (select from private.notice_refusals as refusal where refusal.account = users.id),
        'new_email', (
          select change.email from private.email_changes as change
          where change.account = users.id and change.expires_at > now() and change.spent_at is null
        ),
        'erasure_asked_at', (
          select request.asked_at from private.erasure_requests as request where request.account = users.id
        ),
        'kept_until', (select max(retain_until) from public.shipments where user_id = users.id),
        'other_sessions', (
          select count(*) from auth.sessions as session
          where session.user_id = users.id and session.id <> ((select auth.jwt()) ->> 'session_id')::uuid
        )
      )
      from auth.users
      where users.id = (select auth.uid()) and (select private.assurance_suffices())
    )
  )
$$;
revoke all on function public.portal_account() from public, anon;
grant execute on function public.portal_account() to authenticated;

-- Everything that is kept about the caller, for them to take away: "account" with the first call, and 50 shipments after the
-- one whose opening and id are given, newest first. "account" and "shipments" are null for a session that has to give its
-- code first.
create function public.own_data(before timestamptz default null, before_id uuid default null) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'caller', private.caller(),
    'account', case when own_data.before is null then (
      select jsonb_build_object(
        'id', users.id, 'email', users.email, 'full_name', users.raw_user_meta_data ->> 'full_name',
        'created_at', users.created_at, 'confirmed_at', users.email_confirmed_at, 'last_sign_in_at', users.last_sign_in_at,
        'new_email', (
          select change.email from private.email_changes as change
          where change.account = users.id and change.expires_at > now() and change.spent_at is null
        ),
        'client_id', (select client_id from public.client_ids where claimed_by = users.id),
        'client_id_issued_for', (select issued_for from public.client_ids where claimed_by = users.id),
        'client_id_sent_to', (select sent_to from public.client_ids where claimed_by = users.id),
        'second_factors', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'name', factor.friendly_name, 'created_at', factor.created_at, 'status', factor.status
          ) order by factor.created_at), '[]'::jsonb)
          from auth.mfa_factors as factor where factor.user_id = users.id
        ),
        'sessions', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'began_at', session.created_at, 'last_used_at', session.updated_at
          ) order by session.created_at), '[]'::jsonb)
          from auth.sessions as session where session.user_id = users.id
        ),
        'wants_mails', not exists (select from private.notice_refusals as refusal where refusal.account = users.id),
        'mails_about_shipments', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'shipment', notice.shipment_id, 'kind', notice.kind, 'what', notice.what, 'reason', notice.reason,
            'made_at', notice.made_at, 'sent_at', notice.sent_at
          ) order by notice.made_at), '[]'::jsonb)
          from public.notices as notice where notice.account = users.id
        ),
        'mails_not_delivered', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'kind', mail.kind, 'sent_to', mail.sent_to, 'at', mail.at
          ) order by mail.at), '[]'::jsonb)
          from public.undelivered_mails as mail where mail.account = users.id
        ),
        'erasure_asked_at', (
          select request.asked_at from private.erasure_requests as request where request.account = users.id
        ),
        -- What the company did to the account. Who did it is another person's.
        'log', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'at', entry.at, 'act', entry.act, 'before', entry.before, 'after', entry.after, 'reason', entry.reason
          ) order by entry.at), '[]'::jsonb)
          from public.acts as entry where entry.account = users.id
        )
      )
      from auth.users
      where users.id = (select auth.uid()) and (select private.assurance_suffices())
    ) end,
    'shipments', case when (select private.assurance_suffices()) then (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'awb', shipment.awb, 'stage', shipment.stage, 'status', shipment.status,
        'created_at', shipment.created_at, 'changed_at', shipment.changed_at, 'kept_until', shipment.retain_until,
        'arrival_place', shipment.arrival_place, 'arrived_on', shipment.arrived_on,
        'container_size', shipment.container_size, 'free_until', shipment.free_until,
        'documents', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'verified', document.verified,
            'file_name', document.file_name, 'file_size', document.file_size, 'media_type', document.media_type,
            'uploaded_at', document.uploaded_at, 'sha256', document.sha256, 'storage_path', document.storage_path,
            'storage_version', document.storage_version, 'sent_back_at', document.sent_back_at,
            'sent_back_reason', document.sent_back_reason
          ) order by document.name), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id
        ),
        'charges', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on,
            'note', charge.note, 'paid_at', charge.paid_at
          ) order by charge.item), '[]'::jsonb)
          from public.charges as charge where charge.shipment_id = shipment.id
        ),
        'history', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'at', event.created_at, 'status', event.status, 'location', event.location, 'note', event.note
          ) order by event.created_at, event.id), '[]'::jsonb)
          from public.tracking_events as event where event.shipment_id = shipment.id
        ),
        'links', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'made_at', share.made_at, 'expires_at', share.expires_at
          ) order by share.made_at), '[]'::jsonb)
          from private.shares as share where share.shipment_id = shipment.id
        ),
        'log', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'at', entry.at, 'act', entry.act, 'document', entry.document, 'before', entry.before, 'after', entry.after,
            'reason', entry.reason
          ) order by entry.at), '[]'::jsonb)
          from public.acts as entry where entry.shipment = shipment.id
        )
      ) order by shipment.created_at desc, shipment.id desc), '[]'::jsonb)
      from (
        select * from public.shipments
        where user_id = (select auth.uid())
          and (own_data.before is null or (shipments.created_at, shipments.id) < (own_data.before, own_data.before_id))
        order by shipments.created_at desc, shipments.id desc
        limit 50
      ) as shipment
    ) end
  )
$$;
revoke all on function public.own_data(timestamptz, uuid) from public, anon;
grant execute on function public.own_data(timestamptz, uuid) to authenticated;

-- /desk as before, with who asked to be erased.
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
    ),
    'erasures', jsonb_build_object(
      'count', private.up_to_a_hundred('select from private.erasure_requests'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select request.account, request.asked_at as at,
            coalesce(nullif(account.raw_user_meta_data ->> 'full_name', ''), account.email) as name
          from private.erasure_requests as request
          join auth.users as account on account.id = request.account
          order by request.asked_at, request.account
          limit 8
        ) as line
      )
    )
  );
end
$$;

-- /desk/clients as before; an opened one says whether it asked to be erased.
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
        'erasure_asked_at', (
          select request.asked_at from private.erasure_requests as request where request.account = account.id
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

-- Deletes links that have ended: shares, new addresses, new passwords; and notices of a month ago. Returns how many rows.
-- For staff only.
create function public.forget_past_links() returns integer
language sql volatile security definer
set search_path = ''
as $$
  -- A link that was ended is known for a month more, so that its form does not make it again.
  with share as (delete from private.shares where expires_at < now() - interval '30 days' returning 1),
    address as (delete from private.email_changes where expires_at < now() returning 1),
    password as (delete from private.password_links where expires_at < now() returning 1),
    notice as (delete from public.notices where made_at < now() - interval '30 days' returning 1)
  select count(*)::integer from (
    select * from share union all select * from address union all select * from password union all select * from notice
  ) as gone
$$;

do $$
declare
  one text;
begin
  foreach one in array array[
    'begin_email_change(uuid, text)', 'email_change(text)', 'spend_email_change(text)', 'unspend_email_change(text)',
    'forget_links(uuid)', 'forget_past_links()'
  ] loop
    execute format('revoke all on function public.%s from public, anon, authenticated', one);
    execute format('grant execute on function public.%s to service_role', one);
  end loop;
end
$$;

alter table public.undelivered_mails
  drop constraint undelivered_mails_kind_check,
  add constraint undelivered_mails_kind_check check (
    kind in (
      'invitation', 'client ID', 'new password', 'password change', 'second factor', 'notice', 'address change', 'erasure'
    )
  );
