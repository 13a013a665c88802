-- Returns a new Client ID, such as 7K3Q-X9MD-2HTV-W5BC. A Client ID has 80 random bits in Crockford's base 32.
create function private.generate_client_id() returns text
language sql volatile set search_path = '' as $$
  select string_agg(
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', get_byte(random.bytes, i) % 32 + 1, 1)
      || case when i in (3, 7, 11) then '-' else '' end,
    '' order by i
  )
  from (select extensions.gen_random_bytes(16) as bytes) as random, generate_series(0, 15) as i
$$;

-- Returns a hash of a Client ID and an email address. The database stores this hash instead of the address.
create function private.client_id_email_hash(client_id text, email text) returns text
language sql immutable set search_path = '' as $$
  select encode(sha256(convert_to(client_id || ' ' || lower(email), 'UTF8')), 'hex')
$$;

create table public.client_ids (
  client_id text primary key default private.generate_client_id() check (char_length(client_id) between 12 and 64),
  issued_for text check (char_length(issued_for) between 1 and 120) check (private.is_one_line(issued_for)),
  sent_to text check (char_length(sent_to) between 3 and 254)
    check (sent_to ~ '^[^\s@<>,;:"()]+@[^\s@<>,;:"()]+$' and private.is_one_line(sent_to)),
  idempotency_key uuid,
  -- The hash of the email address that first used the Client ID. Only that address can use the Client ID again.
  email_hash text,
  used_at timestamptz,
  -- True after a sign-up with the Client ID has created an account or replaced an unconfirmed account.
  has_claimed_email boolean not null default false,
  -- The time at which the user opened the confirmation link and entered the password chosen at sign-up.
  password_proven_at timestamptz,
  account_id uuid unique references auth.users (id) on delete restrict,
  claimed_at timestamptz,
  created_at timestamptz not null default now(),
  check ((account_id is null) = (claimed_at is null)),
  check (account_id is null or email_hash is not null)
);
alter table public.client_ids enable row level security;
grant select, insert, delete on table public.client_ids to service_role;

create index client_ids_unused on public.client_ids (created_at) where email_hash is null;
create index client_ids_hash on public.client_ids (private.token_hash(client_id));
create index client_ids_idempotency_key on public.client_ids (idempotency_key) where idempotency_key is not null;

-- Creates Client IDs with the same label (`issued_for`) and the same email address (`sent_to`).
create function public.issue_client_ids(
  how_many integer default 1, issued_for text default null, sent_to text default null,
  idempotency_key uuid default null, actor_name text default null
) returns setof public.client_ids
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('issue', how_many, issued_for, sent_to));
begin
  perform private.reject_if(how_many is null or how_many not between 1 and 1000, 400, 'Enter a number from 1 to 1,000.');
  if private.is_repeated_action(key) then
    return query select issued.* from public.client_ids as issued where issued.idempotency_key = key;
    return;
  end if;
  return query
  with issued as (
    insert into public.client_ids (client_id, issued_for, sent_to, idempotency_key)
    select private.generate_client_id(), nullif(btrim(issue_client_ids.issued_for), ''),
      nullif(lower(btrim(issue_client_ids.sent_to)), ''), key
    from generate_series(1, how_many)
    returning client_ids.*
  ),
  logged as (
    select private.insert_audit_entry(
      actor, 'client-id issue', idempotency_key => key,
      -- The entry has only a hash, because it outlives the account, and because readers must not learn an unused
      -- Client ID. With the hash, private.audit_entries_json finds the recipient.
      after => jsonb_build_object('count', count(*)) || case when count(*) = 1 then
        jsonb_build_object('client_id_hash', private.token_hash(min(issued.client_id))) else '{}' end
    )
    from issued
    having count(*) > 0
  )
  select issued.* from issued, logged;
end
$$;

-- Records that the site emails a Client ID, and returns the recipient's address.
create function public.send_client_id(client_id text, idempotency_key uuid default null, actor_name text default null)
returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('send client ID', client_id));
  address text;
begin
  select sent_to into address from public.client_ids
  where client_ids.client_id = send_client_id.client_id and email_hash is null and sent_to is not null;
  perform private.reject_if(
    not found, 409, 'You can send a Client ID again only if it is unused and was issued with an email address. Issue a new Client ID.'
  );
  update public.failed_emails set resolved_at = now()
  where failed_emails.client_id = send_client_id.client_id and resolved_at is null;
  if private.is_repeated_action(key) then return address; end if;
  perform private.insert_audit_entry(
    actor, 'client-id send', idempotency_key => key,
    after => jsonb_build_object('client_id_hash', private.token_hash(send_client_id.client_id))
  );
  return address;
end
$$;

-- Deletes an unused Client ID. Raises PT409 if the Client ID is unknown or has been used.
create function public.withdraw_client_id(
  client_id text, reason text, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('withdraw', client_id, reason));
  trimmed_reason text := private.require_reason(reason);
begin
  if private.is_repeated_action(key) then return; end if;
  delete from public.client_ids where client_ids.client_id = withdraw_client_id.client_id and email_hash is null;
  perform private.reject_if(not found, 409, 'This Client ID is unknown or has already been used.');
  perform private.insert_audit_entry(
    actor, 'client-id withdraw', idempotency_key => key, reason => trimmed_reason,
    before => jsonb_build_object('client_id', withdraw_client_id.client_id)
  );
end
$$;

-- Reserves a Client ID for the email address of a sign-up.
-- Returns false if the Client ID is unknown or reserved for another address.
create function public.redeem_client_id(client_id text, email text) returns boolean
language sql volatile security definer set search_path = '' as $$
  with redeemed as (
    update public.client_ids as invitation
    set email_hash = private.client_id_email_hash(redeem_client_id.client_id, redeem_client_id.email),
      used_at = coalesce(invitation.used_at, now())
    where invitation.client_id = redeem_client_id.client_id
      and coalesce(invitation.email_hash, private.client_id_email_hash(redeem_client_id.client_id, redeem_client_id.email))
        = private.client_id_email_hash(redeem_client_id.client_id, redeem_client_id.email)
    returning true
  )
  select exists (select from redeemed)
$$;

-- Returns the data of the page /desk/invitations: up to 21 unused Client IDs, newest first.
-- The page shows 20 Client IDs, so a 21st Client ID means that a next page exists.
create function public.desk_invitations(sort text default null, page integer default 1) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  sort_column constant text := case ltrim(sort, '-')
    when 'id' then 'client_id' when 'for' then 'lower(issued_for)' when 'email' then 'lower(sent_to)' else 'created_at'
  end;
  direction constant text := case when sort is null or sort like '-%' then 'desc nulls last' else '' end;
  found jsonb;
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  execute format($query$
    select coalesce(jsonb_agg(to_jsonb(unused) - 'place' order by place), '[]'::jsonb)
    from (
      select client_id, issued_for, sent_to, created_at, row_number() over (order by %s %s, client_id) as place
      from public.client_ids
      where email_hash is null
      order by place
      offset $1 limit 21
    ) as unused
  $query$, sort_column, direction)
  into found
  using (greatest(page, 1) - 1) * 20;
  return jsonb_build_object('viewer', private.viewer(), 'invitations', found);
end
$$;

grant execute on function public.desk_invitations to authenticated;
grant execute on function
  public.issue_client_ids, public.send_client_id, public.withdraw_client_id
to authenticated, service_role;
grant execute on function private.generate_client_id, public.redeem_client_id to service_role;
